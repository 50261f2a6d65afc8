import { randomUUID } from "node:crypto";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { expect } from "chai";
import { composeAuditProof } from "../../../../src/bootstrap/commands/audit-proof.ts";
import { readLastEvent } from "../../../../src/eventstore/event-store.ts";
import { copyDatabase, lastPosition } from "../../../../src/eventstore/sqlite/copy-database.ts";
import { openSqliteEventStore } from "../../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { duringTest } from "../../../support/during.ts";
import { startEventStoreDBNode } from "../../../support/eventstoredb-node/node.ts";
import { temporaryFolder } from "../../../support/service.ts";
import { fileOf, type Installation, installationIn, nameOf, refusal } from "./installation.ts";

describe("the record of a restore by other tools", () => {
  const folder = duringTest(temporaryFolder);
  let installed: Installation;
  beforeEach(async () => {
    installed = installationIn(folder.path, {});
    await installed.register("example.com");
    await installed.seal();
  });

  const snapshot = () =>
    copyDatabase(installed.inFolder("data/events.db"), installed.inFolder("snapshot.db"));
  /** Loses everything, and brings the snapshot of the log and the master key back. */
  const restoreSnapshot = async (): Promise<void> => {
    const { read, lose, inFolder } = installed;
    const key = await read("data/master.key");
    await lose();
    await mkdir(inFolder("data"), { mode: 0o700 });
    await writeFile(inFolder("data/master.key"), key, { mode: 0o600 });
    await cp(inFolder("snapshot.db"), inFolder("data/events.db"));
  };
  const record = () => installed.restore({ isLogRestored: true });

  it("names the end of the log, is sealed, and restores public keys and audio", async () => {
    const { put, backUp, register, inFolder, read, settings } = installed;
    await put("a");
    const { manifest } = await backUp();
    await register("example.net");
    await snapshot();
    const end = await lastPosition(inFolder("snapshot.db"));
    expect(end).to.be.above(manifest.position);
    await restoreSnapshot();
    const { audio, ...restored } = await record();
    expect(restored).to.deep.include({ isSealed: true, hasMasterKey: true });
    expect(audio).to.include({ objects: 1, restored: 1 });
    expect(await read(`data/audio/${fileOf("a")}`)).to.include("audio");
    const proof = composeAuditProof(settings);
    const { remarks } = await proof.verifyLog({ keys: await proof.verifierKeys() });
    expect(remarks[0]).to.match(new RegExp(`^restored from a backup at position ${end} at `));
  });

  it("is made once", async () => {
    const { backUp, restore } = installed;
    await backUp({ hasAudio: false });
    await snapshot();
    await restoreSnapshot();
    await record();
    expect(await refusal(restore({ isLogRestored: true }))).to.include(
      "records already that it was restored",
    );
  });

  it("is made again if the recorded one is not at the end of the log, which stays genuine", async () => {
    const { backUp, register, settings, inFolder } = installed;
    await backUp({ hasAudio: false });
    await snapshot();
    await restoreSnapshot();
    // An instance that ran meanwhile has recorded something before the restore.
    const { manifest } = await backUp({ hasAudio: false });
    await register("example.net");
    const store = await openSqliteEventStore({ path: inFolder("data/events.db") });
    const { takenAt, position, newestSeal } = manifest;
    const data = { position, takenAt, seal: newestSeal?.note, at: takenAt };
    const revision = (await readLastEvent(store, "log"))?.revision ?? "none";
    await store.append("log", [{ id: randomUUID(), type: "LogRestored", data, metadata: {} }], revision);
    await store.close();
    expect(await record()).to.include({ isSealed: true });
    const proof = composeAuditProof(settings);
    const { remarks } = await proof.verifyLog({ keys: await proof.verifierKeys() });
    expect(remarks[0]).to.include("no seal says so");
    expect(remarks[1]).to.match(/^restored from a backup at position /);
  });

  it("is refused for an older log than that of the backup, and for another log", async () => {
    const { backUp, seal, inFolder, register } = installed;
    await snapshot();
    await register("example.net");
    await seal();
    await backUp({ hasAudio: false });
    await restoreSnapshot();
    expect(await refusal(record())).to.include("the log lacks the newest seal of the backup");
    await rm(inFolder("data"), { recursive: true });
    await seal();
    expect(await refusal(record())).to.match(/^MASTER_KEY: this key is /);
  });

  it("changes no log if audio is where that of the backup is to be restored", async () => {
    const { backUp, put, inFolder } = installed;
    await put("a");
    await backUp();
    await snapshot();
    await restoreSnapshot();
    await put("b");
    const end = await lastPosition(inFolder("data/events.db"));
    expect(await refusal(record())).to.include("is restored only into empty directories");
    expect(await lastPosition(inFolder("data/events.db"))).to.equal(end);
    await rm(inFolder("data/audio"), { recursive: true });
    await rm(inFolder(`backup/audio/${fileOf("a")}`));
    expect((await record()).audio).to.deep.include({ missing: [nameOf("a")] });
  });

  it("has to be asked for with EventStoreDB, whose log is restored by its own tools", async () => {
    const node = await startEventStoreDBNode();
    try {
      const { env, seal, backUp, restore } = installed;
      Object.assign(env, { EVENT_STORE: node.url, MASTER_KEY: Buffer.alloc(32, 9).toString("base64") });
      await seal();
      await backUp({ hasAudio: false });
      expect(await refusal(restore())).to.match(/^EVENT_STORE: .* --log-restored$/);
      expect(await restore({ isLogRestored: true })).to.include({ isSealed: true });
    } finally {
      await node.close();
    }
  });
});
