import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { composeAuditProof } from "../../src/bootstrap/commands/audit-proof.ts";
import { registerAuditProofCommands } from "../../src/cli/commands/audit-proof.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { runCommand } from "../support/command-line.ts";
import { type EventStoreDBNode, startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { startError } from "../support/in-process-service.ts";
import { masterKey } from "../support/instance.ts";
import { unpack } from "./recorded.ts";

/**
 * Logs of format 1, with 30 servings of 45 characters: as 8e08956 left them (`written`), and after
 * a start of cf828b1 on them, which recorded a serving and sealed the log (`opened`).
 */
const archive = join(import.meta.dirname, "8e08956/logs.tar.br");

const refusal = /^EVENT_STORE: the log has format 1, .* commit 6e84a1e;[^\n]*$/;

const commands = [
  ["key", "list"],
  ["website", "create", "Home"],
  ["audit", "verify"],
  ["audit", "export", "export"],
] as const;

const stores = ["sqlite", "eventstoredb", "eventstoredb with a STREAM_PREFIX"] as const;

for (const store of stores) {
  for (const state of ["written", "opened"] as const) {
    describe(`a log of format 1 (${state}, ${store})`, () => {
      let folder: string;
      let node: EventStoreDBNode | undefined;
      let env: Record<string, string>;

      before(async () => {
        folder = await unpack(archive);
        const dataDir = join(folder, store === "sqlite" ? store : "eventstoredb", state);
        const dataFile = join(dataDir, "eventstoredb.ndjson");
        const prefix = store.includes("PREFIX") ? "shop" : "";
        if (prefix) await addPrefix(dataFile, prefix);
        if (store !== "sqlite") node = await startEventStoreDBNode({ dataFile });
        const settings = { DATA_DIR: dataDir, MASTER_KEY: masterKey, STREAM_PREFIX: prefix };
        env = node ? { ...settings, EVENT_STORE: node.url } : settings;
        // `written` has no seal yet; `audit verify` needs a key.
        await writeFile(join(dataDir, "seal.pub"), await readFile(join(dataDir, "../opened/seal.pub")));
      });
      after(async () => {
        await node?.close();
        await rm(folder, { recursive: true });
      });

      it("is refused by a start, in one line that names the version that reads it", async () => {
        expect(await startError(env)).to.match(refusal);
        expect(await startError(env), "a second time").to.match(refusal);
      });

      for (const command of commands) {
        it(`is refused by \`${command.join(" ")}\``, async () => {
          const { exitCode, stdout, stderr } = await runCommand(env, command, (program) =>
            registerAuditProofCommands(
              program,
              composeAuditProof(() => readSettings(env)),
            ),
          );
          expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
          expect(stderr.replace(/^error: /, "").trimEnd()).to.match(refusal);
        });
      }
    });
  }
}

describe("an export of a log of format 1", () => {
  it("is not genuine: no account counts its servings", async () => {
    const folder = await unpack(archive);
    const dataDir = join(folder, "sqlite/opened");
    const args = ["audit", "verify", join(dataDir, "export.ndjson")];
    const { exitCode, stderr } = await runCommand({ DATA_DIR: dataDir }, args, (program) =>
      registerAuditProofCommands(
        program,
        composeAuditProof(() => readSettings({ DATA_DIR: dataDir })),
      ),
    );
    await rm(folder, { recursive: true });
    expect(stderr).to.match(
      /^error: not genuine: .* is a serving of log format 1, which no account counts\n$/,
    );
    expect(exitCode).to.equal(1);
  });
});

/** Renames the streams in a node's file as an installation with this STREAM_PREFIX writes them. */
const addPrefix = async (dataFile: string, prefix: string): Promise<void> => {
  const lines = (await readFile(dataFile, "utf8")).trimEnd().split("\n");
  const renamed = lines.map((line) => {
    const events: { stream: string }[] = JSON.parse(line);
    return JSON.stringify(events.map((event) => ({ ...event, stream: renameStream(event.stream, prefix) })));
  });
  await writeFile(dataFile, `${renamed.join("\n")}\n`);
};

const renameStream = (stream: string, prefix: string): string =>
  stream.startsWith("$$") ? `$$${prefix}.${stream.slice(2)}` : `${prefix}.${stream}`;
