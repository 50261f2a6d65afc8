import { expect } from "chai";
import { composeAuditProof } from "../../src/bootstrap/commands/audit-proof.ts";
import { createLogger } from "../../src/bootstrap/observability.ts";
import { composeService, type Service } from "../../src/bootstrap/service.ts";
import { registerAuditProofCommands } from "../../src/cli/commands/audit-proof.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { synthesize } from "../support/client.ts";
import { runCommand } from "../support/command-line.ts";
import { shareHelper } from "../support/tool-host.ts";
import { openRecorded, recordedVersions, storeKinds } from "./recorded.ts";

for (const version of recordedVersions) {
  for (const kind of storeKinds) {
    it(`a log of ${version} with times of the future is brought back by \`clock accept\` (${kind})`, async () => {
      let now = 0;
      const clock = (): number => now;
      const machine = { clock, uptime: clock };
      const opened = await openRecorded(version, kind, clock);
      now = Date.parse(opened.recorded.at) - 40 * 24 * 3_600_000;
      const settings = readSettings(opened.env);
      const start = () =>
        composeService(settings, createLogger("silent"), { machine, superviseHelper: shareHelper });
      const query = { voice: "UK English Female", text: "The train leaves at nine." };
      const speak = async ({ url }: Service): Promise<Response> =>
        await synthesize(url, opened.recorded.websites.shop, query);
      /** A start fails if it has to record something, as the first of a version. */
      const findRefusal = async (): Promise<string> => {
        const started = await start().catch(String);
        if (typeof started === "string") return started;
        const text = await (await speak(started)).text();
        await started.close();
        return text;
      };
      const refusal = await findRefusal();
      expect(refusal).to.include("Nothing is recorded").and.to.include("voxledger clock accept");

      const accepted = await runCommand(opened.env, ["clock", "accept", "--json"], undefined, machine);
      expect(accepted.exitCode, accepted.stderr).to.equal(0);
      expect(JSON.parse(accepted.stdout).corrected.servings).to.be.greaterThan(0);

      const repeated = await runCommand(opened.env, ["clock", "accept", "--json"], undefined, machine);
      expect(JSON.parse(repeated.stdout)).to.have.keys("accepted");

      const service = await start();
      expect((await speak(service)).status).to.equal(200);
      await service.close();
      const register = (program: Parameters<typeof registerAuditProofCommands>[0]) =>
        registerAuditProofCommands(
          program,
          composeAuditProof(() => settings, machine),
        );
      const file = opened.pathOf("corrected.ndjson");
      const exported = await runCommand(opened.env, ["audit", "export", file], register, machine);
      expect(exported.exitCode, exported.stderr).to.equal(0);
      for (const args of [[], [file]]) {
        const { exitCode, stdout, stderr } = await runCommand(
          opened.env,
          ["audit", "verify", ...args],
          register,
        );
        expect(exitCode, stderr).to.equal(2);
        expect(stdout)
          .to.match(/^genuine, with remarks: /)
          .and.to.include("\nremark: the clock was corrected");
      }
      await opened.remove();
    });
  }
}
