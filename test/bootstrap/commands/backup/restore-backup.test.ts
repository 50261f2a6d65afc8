import { randomUUID } from "node:crypto";
import { appendFile, cp, mkdir, readdir, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { expect } from "chai";
import { composeAuditProof } from "../../../../src/bootstrap/commands/audit-proof.ts";
import { createNoteSigner } from "../../../../src/domain/ledger/seals/note-signer.ts";
import { openSqliteEventStore } from "../../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { sealing, signer } from "../../../ledger/proof/sealed-store.ts";
import { duringTest } from "../../../support/during.ts";
import { startError } from "../../../support/in-process-service.ts";
import { startMinio } from "../../../support/minio.ts";
import { temporaryFolder } from "../../../support/service.ts";
import { fileOf, hashOf, type Installation, installationIn, nameOf, refusal } from "./installation.ts";

describe("a restore", () => {
  const folder = duringTest(temporaryFolder);
  let installed: Installation;
  beforeEach(async () => {
    installed = installationIn(folder.path, {});
    await installed.register("example.com");
    await installed.seal();
  });

  /** The names in the folder, without those of the backup. */
  const others = async (): Promise<string[]> =>
    (await readdir(folder.path)).filter((name) => name !== "backup");
  const verify = async () => {
    const proof = composeAuditProof(installed.settings);
    return await proof.verifyLog({ keys: await proof.verifierKeys() });
  };

  it("with the master key of the backup continues its log, and seals that it did", async () => {
    const { put, backUp, read, lose, restore, seal } = installed;
    await put("a");
    await backUp({ withKey: true });
    const [key, publicKeys] = await Promise.all(
      ["master.key", "seal.pub"].map((name) => read(`data/${name}`)),
    );
    await lose();
    const { audio, manifest, ...restored } = await restore();
    expect(restored).to.deep.include({ hasMasterKey: true, isSealed: true, pausedWebhooks: 0 });
    expect(restored.log).to.deep.equal({ seals: "trusted", unsealed: 0, missingArchives: [] });
    expect(audio).to.include({ objects: 1, restored: 1 });
    expect(await read("data/master.key")).to.equal(key);
    expect(await read("data/seal.pub")).to.equal(publicKeys);
    expect((await readdir(installed.inFolder("data"))).sort()).to.deep.equal([
      ...["audio", "events.db", "master.key", "seal.pub"],
    ]);
    await seal();
    const { remarks } = await verify();
    expect(remarks[0]).to.include(`restored from a backup at position ${manifest.position} at `);
  });

  it("without the master key is refused, unless the operator says so; no other key is created", async () => {
    const { backUp, read, lose, restore, env, seal, inFolder } = installed;
    const { manifest } = await backUp();
    const key = await read("data/master.key");
    await lose();
    expect(await refusal(restore())).to.include(
      `the backup lacks the log's master key, ${manifest.masterKeyId}`,
    );
    expect(await others()).to.deep.equal([]);
    const restored = await restore({ withoutKey: true });
    expect(restored).to.deep.include({ hasMasterKey: false, isSealed: false });
    expect(restored.log.seals).to.equal("untrusted");
    const before = await readdir(inFolder("data"));
    expect(await startError(env)).to.include(`the log's master key is ${manifest.masterKeyId}`);
    expect(await readdir(inFolder("data"))).to.deep.equal(before);
    await writeFile(inFolder("data/master.key"), key);
    await seal();
    expect((await verify()).remarks[0]).to.include("no seal says so");
    expect(await restore({ isLogRestored: true, hasAudio: false })).to.include({ isSealed: true });
    expect((await verify()).remarks[0]).to.match(/^restored from a backup at position /);
  });

  it("finds the master key that was put into the empty directory, and refuses another one", async () => {
    const { backUp, read, lose, restore, env } = installed;
    await backUp();
    const key = await read("data/master.key");
    await lose();
    env.MASTER_KEY = Buffer.alloc(32, 9).toString("base64");
    expect(await refusal(restore())).to.match(
      /^MASTER_KEY: this key is \w+, the one of the backup's log is \w+: set that one, or name it in MASTER_KEY_PREVIOUS$/,
    );
    env.MASTER_KEY = key.trim();
    expect(await restore()).to.include({ hasMasterKey: true });
  });

  it("overwrites nothing", async () => {
    const { backUp, restore, inFolder, read } = installed;
    await backUp();
    expect(await refusal(restore())).to.match(/exists: a backup is restored only into empty directories/);
    const key = await read("data/master.key");
    await rm(inFolder("data/events.db"));
    expect(await refusal(restore())).to.match(/data\/\S+ exists/);
    expect(await read("data/master.key")).to.equal(key);
  });

  it("is refused if the log was changed, is missing or is not the one of its manifest", async () => {
    const { backUp, lose, inFolder, restore, read } = installed;
    const { manifest } = await backUp({ withKey: true });
    await lose();
    const logPath = `backup/${manifest.log?.file}`;
    await cp(inFolder(logPath), inFolder("log"));
    const tryWith = async (changes: object): Promise<string> => {
      await writeFile(inFolder("backup/manifest.json"), JSON.stringify({ ...manifest, ...changes }));
      return await refusal(restore());
    };
    expect(await tryWith({ position: manifest.position + 1 })).to.include("the log has the position");
    expect(await tryWith({ logId: "other" })).to.include("signed with none of your keys");
    expect(await tryWith({ newestSeal: null })).to.include("the newest seal");
    expect(await tryWith({ streamPrefix: "prod" })).to.match(/^STREAM_PREFIX: /);
    expect(await tryWith({ sealKeys: ["x"] })).to.include("manifest.json is not one of this version's");
    expect(await tryWith({ format: 2 })).to.include("manifest.json is not one of this version's backups");
    expect(await tryWith({ takenAt: new Date(Date.now() + 1e12).toISOString() })).to.include("set the clock");
    const elsewhere = { ...manifest.log, file: "../log" };
    expect(await tryWith({ log: elsewhere })).to.include("manifest.json is not one of this version's");
    await appendFile(inFolder(logPath), "x");
    expect(await tryWith({})).to.include("was changed after the backup");
    await rm(inFolder(logPath));
    expect(await tryWith({})).to.include("cannot be copied: ENOENT");
    expect(await others()).to.deep.equal(["log"]);
    await cp(inFolder("log"), inFolder(logPath));
    await restore();
    expect(await read("data/master.key")).to.match(/^\S+\n$/);
  });

  it("trusts no seal only because the backup itself has its key", async () => {
    const { backUp, lose, restore, env, inFolder, read, register, seal } = installed;
    await backUp();
    const key = await read("data/master.key");
    const publicKey = (await read("data/seal.pub")).trim();
    await lose();
    // A forger makes another log with the same master key's id, and another key of seals.
    env.SEAL_KEY = Buffer.alloc(32, 8).toString("base64");
    await mkdir(inFolder("data"));
    await writeFile(inFolder("data/master.key"), key, { mode: 0o600 });
    await register("forged.example");
    await seal();
    await backUp({ to: "forged" });
    await lose();
    delete env.SEAL_KEY;
    env.MASTER_KEY = key.trim();
    expect(await refusal(restore({ from: "forged" }))).to.include("signed with none of your keys");
    expect(await refusal(restore({ from: "forged", key: publicKey }))).to.include("signed with none of your");
    delete env.MASTER_KEY;
    const untrusted = await restore({ from: "forged", withoutKey: true });
    expect(untrusted.log.seals).to.equal("untrusted");
  });

  it("of a log without a seal is refused, unless the operator says so; nothing was verified", async () => {
    const { backUp, env, lose, restore, inFolder, register, read } = installed;
    const publicKey = (await read("data/seal.pub")).trim();
    await lose();
    await register("unsealed.example");
    env.MASTER_KEY = (await read("data/master.key")).trim();
    const store = await openSqliteEventStore({ path: inFolder("data/events.db") });
    const data = { logId: "log-1", at: new Date().toISOString() };
    await store.append("log", [{ id: randomUUID(), type: "LogBegun", data, metadata: {} }], "none");
    await store.close();
    await backUp();
    await lose();
    expect(await refusal(restore())).to.match(/^the log has no seal, .* repeat with --without-seal only if/);
    const options = { withoutSeal: true, key: publicKey };
    expect(await refusal(restore(options))).to.include("has no seal that a key can verify");
    expect(await others()).to.deep.equal([]);
    expect((await restore({ withoutSeal: true })).log.seals).to.equal("unsealed");
    expect(await readdir(inFolder("data"))).to.include("events.db");
  });

  it("is refused if only the backup has the key of the seals, and the log records no master key", async () => {
    const { backUp, lose, restore, inFolder, read } = installed;
    const key = await read("data/master.key");
    await lose();
    await mkdir(inFolder("data"));
    const store = await openSqliteEventStore({ path: inFolder("data/events.db") });
    const data = { logId: "test", at: new Date().toISOString() };
    await store.append("log", [{ id: randomUUID(), type: "LogBegun", data, metadata: {} }], "none");
    await sealing(store).seals.seal({ actor: "cli" });
    await store.close();
    await writeFile(inFolder("data/seal.pub"), `${signer.verifierKey}\n`);
    expect((await backUp()).manifest).to.include({ masterKeyId: null });
    await lose();
    await mkdir(inFolder("data"));
    await writeFile(inFolder("data/master.key"), key);
    expect(await refusal(restore())).to.include("the seals are signed with none of your keys");
    expect(await readdir(inFolder("data"))).to.deep.equal(["master.key"]);
    expect((await restore({ key: signer.verifierKey })).log.seals).to.equal("trusted");
  });

  it("adds no key to seal.pub that has signed no seal of the log", async () => {
    const { backUp, lose, restore, inFolder, read } = installed;
    const { manifest } = await backUp({ withKey: true });
    const forged = createNoteSigner(`voxledger/${manifest.logId}`, Buffer.alloc(32, 8)).verifierKey;
    const sealKeys = [forged, ...manifest.sealKeys];
    await writeFile(inFolder("backup/manifest.json"), JSON.stringify({ ...manifest, sealKeys }));
    await lose();
    await restore();
    expect(await read("data/seal.pub")).to.equal(`${manifest.sealKeys.join("\n")}\n`);
  });

  it("brings back no audio that was deleted, or removed by retention before the backup", async () => {
    const { backUp, put, deleteAudio, remove, lose, restore, filesIn, inFolder } = installed;
    for (const digit of "abc") await put(digit);
    await backUp();
    await deleteAudio("a");
    await remove("b");
    await backUp({ withKey: true });
    await cp(inFolder("backup"), inFolder("copy"), { recursive: true });
    await lose();
    expect((await restore({ from: "copy" })).audio).to.include({ objects: 1, restored: 1 });
    expect(await filesIn("data/audio")).to.deep.equal([`${hashOf("c")}.mp3`]);
  });

  it("names audio that was damaged or lost in the backup", async () => {
    const { backUp, put, lose, restore, inFolder } = installed;
    for (const digit of "abc") await put(digit);
    await backUp({ withKey: true });
    await writeFile(inFolder(`backup/audio/${fileOf("a")}`), "damaged");
    await rm(inFolder(`backup/audio/${fileOf("b")}`));
    await put("d");
    await lose();
    const { audio } = await restore();
    expect(audio).to.deep.equal({
      ...{ objects: 3, restored: 1, deleted: 0 },
      ...{ missing: [nameOf("b")], damaged: [nameOf("a")] },
    });
  });

  it("is refused if the manifest is larger than 16 MB", async () => {
    const { backUp, restore, inFolder } = installed;
    await backUp();
    await truncate(inFolder("backup/manifest.json"), 17 * 1024 * 1024);
    expect(await refusal(restore())).to.match(/larger than 16 MB$/);
    expect(await refusal(backUp())).to.match(/larger than 16 MB$/);
  });

  it("into a bucket is refused if the bucket has audio", async () => {
    const { backUp, put, lose, restore, env, inFolder } = installed;
    await put("a");
    await backUp({ withKey: true });
    await lose();
    const server = await startMinio();
    try {
      const { port, accessKey, secretKey } = server;
      const [user, password] = [accessKey, secretKey].map(encodeURIComponent);
      env.AUDIO_STORE = `s3://${user}:${password}@127.0.0.1:${port}/restored?tls=false`;
      expect(await restore())
        .to.deep.include({ isSealed: true })
        .and.to.have.nested.property("audio.restored", 1);
      await rm(inFolder("data"), { recursive: true });
      expect(await refusal(restore())).to.match(/^public\/a{64}\.mp3 in the bucket .* --no-audio$/);
      expect(await restore({ hasAudio: false })).to.include({ audio: undefined });
    } finally {
      await server.stop();
    }
  });

  it("is refused if the list of audio was changed, or a symbolic link is in the folder", async () => {
    const { backUp, put, lose, restore, inFolder } = installed;
    await put("a");
    const { manifest } = await backUp({ withKey: true });
    await lose();
    await symlink("/etc/hostname", inFolder(`backup/audio/${fileOf("a")}.link`));
    expect(await refusal(restore())).to.include("is a symbolic link");
    await rm(inFolder(`backup/audio/${fileOf("a")}.link`));
    await appendFile(inFolder(`backup/${manifest.audio?.file}`), `${"0".repeat(64)} 1 1 ${nameOf("b")}\n`);
    expect(await refusal(restore())).to.include("was changed after the backup: restore without the audio");
    expect(await others()).to.deep.equal([]);
    expect((await restore({ hasAudio: false })).audio).to.equal(undefined);
  });

  it("that fails or is interrupted leaves exactly what was there", async () => {
    const { backUp, put, lose, restore, inFolder, read } = installed;
    await put("a");
    await backUp();
    const key = await read("data/master.key");
    await lose();
    await mkdir(inFolder("data"));
    await writeFile(inFolder("data/master.key"), key);
    const controller = new AbortController();
    controller.abort(new Error("interrupted"));
    expect(await refusal(restore({ signal: controller.signal }))).to.equal("interrupted");
    expect(await readdir(inFolder("data"))).to.deep.equal(["master.key"]);
    expect(await restore()).to.include({ isSealed: true });
  });

  it("of two at once, one succeeds and the other changes nothing", async () => {
    const { backUp, put, lose, restore, seal } = installed;
    await put("a");
    await backUp({ withKey: true });
    await lose();
    const results = await Promise.allSettled([restore(), restore()]);
    expect(results.filter(({ status }) => status === "fulfilled")).to.have.length.at.most(1);
    if (results.every(({ status }) => status === "rejected")) await restore();
    await seal();
    expect((await verify()).remarks[0]).to.match(/^restored from a backup at position /);
    expect((await readdir(installed.inFolder("data"))).filter((name) => name.startsWith("."))).to.deep.equal(
      [],
    );
  });

  it("leaves the audio as it is with --no-audio", async () => {
    const { backUp, put, restore, inFolder, filesIn, read } = installed;
    await put("a");
    expect((await backUp({ hasAudio: false })).manifest.audio).to.equal(null);
    const key = await read("data/master.key");
    for (const name of await readdir(inFolder("data")))
      if (name !== "audio") await rm(inFolder(`data/${name}`), { recursive: true });
    await writeFile(inFolder("data/master.key"), key);
    expect(await restore({ hasAudio: false })).to.include({ audio: undefined });
    expect(await filesIn("data/audio")).to.deep.equal([`${hashOf("a")}.mp3`]);
  });
});
