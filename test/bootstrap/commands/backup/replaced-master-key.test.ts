import { expect } from "chai";
import { composeAuditProof } from "../../../../src/bootstrap/commands/audit-proof.ts";
import { composeReplaceMasterKey } from "../../../../src/bootstrap/commands/replace-master-key.ts";
import { operator } from "../../../../src/cli/command.ts";
import { NotGenuine } from "../../../../src/domain/ledger/proof/not-genuine.ts";
import { type Checkpoint, parseCheckpoint } from "../../../../src/domain/ledger/seals/seal-note.ts";
import { duringTest } from "../../../support/during.ts";
import { rejection } from "../../../support/rejection.ts";
import { temporaryFolder } from "../../../support/service.ts";
import { type Installation, installationIn, refusal } from "./installation.ts";

describe("a restore without the master key, which is replaced afterwards", () => {
  const folder = duringTest(temporaryFolder);
  let installed: Installation;
  let kept: Checkpoint;

  beforeEach(async () => {
    installed = installationIn(folder.path, {});
    const { register, seal, backUp, lose, restore, settings } = installed;
    await register("example.com");
    await seal();
    await backUp({ hasAudio: false });
    await register("example.net");
    await seal();
    const { sealed } = await verify();
    kept = parseCheckpoint(sealed.note.slice(0, sealed.note.lastIndexOf("\n\n") + 1)) as Checkpoint;
    await lose();
    await restore({ withoutKey: true });
    await composeReplaceMasterKey(settings, { objectionMs: 1 })("the disk failed", operator);
  });

  const verify = async (options: { readonly kept?: Checkpoint } = {}) => {
    const proof = composeAuditProof(installed.settings);
    return await proof.verifyLog({ keys: await proof.verifierKeys(), ...options });
  };

  it("is sealed with the new key if the operator says that the backup's is lost", async () => {
    const { restore } = installed;
    const record = (withoutKey: boolean) => restore({ isLogRestored: true, hasAudio: false, withoutKey });
    expect(await rejection(verify({ kept }))).to.be.instanceOf(NotGenuine);
    expect(await refusal(record(false))).to.match(/^MASTER_KEY: this key is /);
    expect(await record(true)).to.include({ isSealed: true, hasMasterKey: true });
    expect((await verify({ kept })).missing?.events).to.be.above(0);
    expect(await refusal(record(true))).to.include("records already that it was restored");
  });

  it("is not sealed with a key that is not the log's", async () => {
    const { restore, env } = installed;
    env.MASTER_KEY = Buffer.alloc(32, 9).toString("base64");
    const record = restore({ isLogRestored: true, hasAudio: false, withoutKey: true });
    expect(await refusal(record)).to.match(/none of your keys|the log has the masterKeyId/);
  });
});
