import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { expect } from "chai";
import type { Machine } from "../../src/bootstrap/clock/service-clock.ts";
import { composeAuditProof } from "../../src/bootstrap/commands/audit-proof.ts";
import { readSealKeys } from "../../src/bootstrap/event-log/seals.ts";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { composeService } from "../../src/bootstrap/service.ts";
import { registerAuditProofCommands } from "../../src/cli/commands/audit-proof.ts";
import { verifyKeyMonth } from "../../src/domain/ledger/proof/key-month-verifier.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { admin, synthesize } from "../support/client.ts";
import { type CommandResult, runCommand } from "../support/command-line.ts";
import { shareHelper } from "../support/tool-host.ts";
import { type OpenInstallation, openRecorded, recordedVersions, storeKinds } from "./recorded.ts";

/** Members of reports that depend on when they were made. */
const timeMembers = new Set(["asOf", "asOfPosition", "finalUntil"]);

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, member) => (timeMembers.has(name) ? undefined : member)));

for (const version of recordedVersions) {
  for (const kind of storeKinds) {
    describe(`an installation recorded by ${version} (${kind})`, () => {
      let opened: OpenInstallation;
      let now: number;
      beforeEach(async () => {
        opened = await openRecorded(version, kind, () => now);
        now = Date.parse(opened.recorded.at);
      });
      afterEach(() => opened.remove());

      const clock = () => now;
      const machine: Machine = { clock, uptime: clock };

      const audit = async (...args: string[]): Promise<CommandResult> =>
        await runCommand(opened.env, ["audit", ...args], (program) =>
          registerAuditProofCommands(
            program,
            composeAuditProof(() => readSettings(opened.env), machine),
          ),
        );
      const expectGenuine = ({ exitCode, stdout, stderr }: CommandResult): void => {
        expect(stderr).to.equal("");
        expect(stdout).to.match(/^genuine: /);
        expect(exitCode).to.equal(0);
      };
      const keptSeals = async (): Promise<string[]> => {
        const files = await readdir(opened.pathOf("seals"));
        return files.map((file) => opened.pathOf(`seals/${file}`));
      };

      it("starts, reports the same characters, and keeps its voices", async () => {
        const options = { machine, superviseHelper: shareHelper };
        const service = await composeService(readSettings(opened.env), createLogger("silent"), options);
        try {
          for (const [path, body] of Object.entries(opened.recorded.reports)) {
            const response = await admin(service.url, "GET", path);
            expect(response.body, path).to.containSubset(withoutTimes(body));
          }
          const { body } = await admin(service.url, "GET", "/voice-choice");
          expect(body, "its voices").to.include({ choice: "classic" });
        } finally {
          await service.close();
        }
        expectGenuine(await audit("verify"));
      });

      it("charges no repeat of a request with an Idempotency-Key that it recorded", async () => {
        const options = { machine, superviseHelper: shareHelper };
        const service = await composeService(readSettings(opened.env), createLogger("silent"), options);
        try {
          const { library } = opened.recorded.websites;
          const speak = async (text: string): Promise<number> => {
            const headers = { "Idempotency-Key": "two" };
            const query = { voice: "UK English Female", text };
            return (await synthesize(service.url, library, query, { headers })).status;
          };
          expect(await speak("Not posted.")).to.equal(200);
          expect(await speak("Another text.")).to.equal(400);
          const path = `/keys/${library.apiKey}/usage?month=2026-11`;
          const { body } = await admin(service.url, "GET", path);
          expect(body.characters).to.equal(opened.recorded.reports[path]?.characters);
        } finally {
          await service.close();
        }
        expectGenuine(await audit("verify"));
      });

      it("continues: it charges new servings, up to the last character of the quota", async () => {
        const options = { machine, superviseHelper: shareHelper };
        const service = await composeService(readSettings(opened.env), createLogger("silent"), options);
        try {
          const { library } = opened.recorded.websites;
          const path = `/keys/${library.apiKey}/usage?month=2026-11`;
          const { body: before } = await admin(service.url, "GET", path);
          const { body: key } = await admin(service.url, "GET", `/keys/${library.apiKey}`);
          const { quota } = key.usage as { quota: number };
          const left = quota - Number(before.characters);
          const speak = async (text: string): Promise<number> =>
            (await synthesize(service.url, library, { voice: "UK English Female", text })).status;
          expect(await speak(`${"All that is left. ".repeat(left).slice(0, left - 2)}.`)).to.equal(200);
          expect(await speak("ab")).to.equal(403);
          const { body: after } = await admin(service.url, "GET", path);
          expect(after.characters).to.equal(quota - 1);
        } finally {
          await service.close();
        }
        expectGenuine(await audit("verify"));
      });

      it("has a log and an export that are genuine and contain every seal that an auditor kept", async () => {
        for (const seal of await keptSeals()) {
          expectGenuine(await audit("verify", "--seal", seal));
          expectGenuine(await audit("verify", opened.pathOf("export.ndjson"), "--seal", seal));
        }
        expectGenuine(await audit("export", opened.pathOf("later.ndjson")).then(() => audit("verify")));
        for (const seal of await keptSeals())
          expectGenuine(await audit("verify", opened.pathOf("later.ndjson"), "--seal", seal));
      });

      it("has an export of a key's month that is genuine", async () => {
        const keys = await readSealKeys(opened.env.DATA_DIR ?? "");
        const { apiKey, month } = opened.recorded.keyMonth;
        const lines = createReadStream(opened.pathOf("key-month.ndjson"));
        const { characters, isClosed } = await verifyKeyMonth(lines, keys, { apiKey, month });
        const report = opened.recorded.reports[`/keys/${apiKey}/usage?month=${month}`];
        expect({ characters, isClosed }).to.deep.equal({ characters: report?.characters, isClosed: true });
      });
    });
  }
}
