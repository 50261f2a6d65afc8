import { appendFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { openFilesystemAudioStore } from "../../../src/audio/store/filesystem/filesystem-audio-store.ts";
import { composeAuditProof } from "../../../src/bootstrap/commands/audit-proof.ts";
import { composeBackup } from "../../../src/bootstrap/commands/backup.ts";
import { composeCommandLine } from "../../../src/bootstrap/commands/command-line.ts";
import { composeRestore } from "../../../src/bootstrap/commands/restore.ts";
import { operator, writing } from "../../../src/cli/command.ts";
import { freePlan } from "../../../src/domain/accounts/plan.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { collect } from "../../support/collect.ts";
import { duringTest } from "../../support/during.ts";
import { startEventStoreDBNode } from "../../support/eventstoredb-node/node.ts";
import { startError } from "../../support/in-process-service.ts";
import { rejection } from "../../support/rejection.ts";
import { temporaryFolder } from "../../support/service.ts";

const passphrase = async (): Promise<string> => "correct horse battery staple";
const hashOf = (digit: string): string => digit.repeat(64);
const audio = { bytes: Buffer.from("audio"), length: { samples: 5, sampleRate: 22_050 } };

describe("a backup", () => {
  const folder = duringTest(temporaryFolder);
  const inFolder = (name: string): string => join(folder.path, name);
  let env: Record<string, string>;

  beforeEach(async () => {
    env = { DATA_DIR: inFolder("data"), ADMIN_TOKEN: "an-operator's-token" };
    const services = await composeCommandLine(settings(), writing);
    await services.websites.register({ name: "example.com", origins: [], plan: freePlan }, operator);
    await services.close();
    await seal();
  });

  const settings = () => readSettings(env);
  const seal = () => collect(composeAuditProof(settings).exportAudit(operator));
  const backUp = ({ hasAudio = true, withKey = false, to = "backup" } = {}) =>
    composeBackup(settings, env)(inFolder(to), {
      hasAudio,
      readPassphrase: withKey ? passphrase : undefined,
    });
  const restore = ({ hasAudio = true, from = "backup" } = {}) =>
    composeRestore(settings)(inFolder(from), { hasAudio, readPassphrase: passphrase });
  const lose = () => rm(inFolder("data"), { recursive: true });
  const refusal = async (work: Promise<unknown>): Promise<string> =>
    ((await rejection(work)) as Error).message;
  const put = async (digit: string): Promise<void> => {
    const store = await openFilesystemAudioStore({ path: inFolder("data/audio") });
    await store.put(`public/${hashOf(digit)}.mp3`, audio);
    await store.close();
  };
  const filesIn = async (path: string): Promise<string[]> => {
    const entries = await readdir(inFolder(path), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  };

  it("holds the log, the public keys, and settings without secrets", async () => {
    const { manifest } = await backUp();
    const { log, masterKeyId, sealKeys, newestSeal, settings, withheldSettings } = manifest;
    expect(await filesIn("backup")).to.have.members(["manifest.json", log?.file]);
    expect(JSON.parse(await readFile(inFolder("backup/manifest.json"), "utf8"))).to.deep.equal(manifest);
    expect(masterKeyId).to.match(/^[0-9a-f]{16}$/);
    expect(`${sealKeys.join("\n")}\n`).to.equal(await readFile(inFolder("data/seal.pub"), "utf8"));
    expect(newestSeal?.note).to.match(/^voxledger\//);
    expect(settings).to.deep.equal({ DATA_DIR: inFolder("data") });
    expect(withheldSettings).to.deep.equal(["ADMIN_TOKEN"]);
  });

  it("can be repeated in its directory: only new audio is copied, and the former log is removed", async () => {
    await put("a");
    expect((await backUp()).audio).to.include({ objects: 1, copied: 1 });
    await put("b");
    const { audio: second, manifest } = await backUp();
    expect(second).to.include({ objects: 2, copied: 1 });
    const files = [`${hashOf("a")}.mp3`, `${hashOf("b")}.mp3`, "manifest.json", manifest.log?.file];
    expect(await filesIn("backup")).to.have.members(files);
  });

  it("is not written into a directory of anything else, or of another log", async () => {
    await backUp();
    await lose();
    await seal();
    expect(await refusal(backUp())).to.include("holds a backup of another log");
    expect(await filesIn("backup")).to.have.length(2);
    expect(await refusal(backUp({ to: "data" }))).to.include("and no backup: name another directory");
  });

  it("with the master key, is restored into an empty directory, and continues there", async () => {
    await put("a");
    await backUp({ withKey: true });
    const key = await readFile(inFolder("data/master.key"), "utf8");
    const publicKeys = await readFile(inFolder("data/seal.pub"), "utf8");
    await lose();
    const { hasMasterKey, audio: restored, manifest } = await restore();
    expect({ hasMasterKey, copied: restored?.copied }).to.deep.equal({ hasMasterKey: true, copied: 1 });
    expect(await readFile(inFolder("data/master.key"), "utf8")).to.equal(key);
    expect(await readFile(inFolder("data/seal.pub"), "utf8")).to.equal(publicKeys);
    await seal();
    const proof = composeAuditProof(settings);
    const { remarks } = await proof.verifyLog({ keys: await proof.verifierKeys() });
    expect(remarks[0]).to.include(`restored from a backup at position ${manifest.position} at `);
  });

  it("without the master key, is restored and names it; the service creates no other key", async () => {
    const { manifest } = await backUp();
    const key = await readFile(inFolder("data/master.key"), "utf8");
    await lose();
    expect(await restore()).to.include({ hasMasterKey: false });
    const before = await readdir(inFolder("data"));
    expect(await startError(env)).to.include(`the log's master key is ${manifest.masterKeyId}`);
    expect(await readdir(inFolder("data"))).to.deep.equal(before);
    await writeFile(inFolder("data/master.key"), key);
    await seal();
  });

  it("finds the master key that was put into the empty directory, and refuses another one", async () => {
    await backUp();
    const key = await readFile(inFolder("data/master.key"), "utf8");
    await lose();
    env = { ...env, MASTER_KEY: Buffer.alloc(32, 9).toString("base64") };
    expect(await refusal(restore())).to.match(
      /^MASTER_KEY: this key is \w+, the one of the backup's log is \w+$/,
    );
    env = { ...env, MASTER_KEY: key.trim() };
    expect(await restore()).to.include({ hasMasterKey: true });
  });

  it("is not restored over anything", async () => {
    await backUp();
    expect(await refusal(restore())).to.match(/exists: a backup is restored only into an empty DATA_DIR/);
    await rm(inFolder("data/events.db"));
    expect(await refusal(restore())).to.match(/data\/\S+ exists/);
  });

  it("is not restored if its log was changed, is missing or is not the one of its manifest", async () => {
    const { manifest } = await backUp();
    await lose();
    const manifestPath = inFolder("backup/manifest.json");
    const logPath = inFolder(`backup/${manifest.log?.file}`);
    const log = await readFile(logPath);
    const tryWith = async (changes: object): Promise<string> => {
      await writeFile(manifestPath, JSON.stringify({ ...manifest, ...changes }));
      return await refusal(restore());
    };
    expect(await tryWith({ position: manifest.position + 1 })).to.include("the log has the position");
    expect(await tryWith({ logId: "other" })).to.include("the log has the logId");
    expect(await tryWith({ newestSeal: null })).to.include("the newest seal");
    expect(await tryWith({ sealKeys: [] })).to.include("is not signed with a given key");
    expect(await tryWith({ streamPrefix: "prod" })).to.match(/^STREAM_PREFIX: /);
    expect(await tryWith({ format: 2 })).to.include("manifest.json is not one of this version's backups");
    expect(await tryWith({ takenAt: new Date(Date.now() + 1e12).toISOString() })).to.include("set the clock");
    await appendFile(logPath, "x");
    expect(await tryWith({})).to.include("was changed after the backup");
    await rm(logPath);
    expect(await tryWith({})).to.include("cannot be read: ENOENT");
    expect(await readdir(folder.path)).not.to.include("data");
    await writeFile(logPath, log);
    await restore();
  });

  it("restores no audio that an operator has deleted", async () => {
    for (const digit of "ab") await put(digit);
    await backUp();
    const services = await composeCommandLine(settings(), writing);
    await services.deleteAudio(hashOf("a"), operator);
    await services.close();
    await backUp({ withKey: true });
    await lose();
    expect((await restore()).audio).to.include({ objects: 1, copied: 1 });
    expect(await filesIn("data/audio")).to.deep.equal([`${hashOf("b")}.mp3`]);
  });

  it("reports audio that was damaged or lost in the backup", async () => {
    for (const digit of "abc") await put(digit);
    await backUp({ withKey: true });
    const pathOf = (digit: string): string =>
      inFolder(`backup/audio/public/${digit.repeat(2)}/${digit.repeat(2)}/${hashOf(digit)}.mp3`);
    await writeFile(pathOf("a"), "damaged");
    await rm(pathOf("b"));
    await lose();
    const { audio: restored, missingAudio } = await restore();
    expect(missingAudio).to.equal(1);
    expect(restored).to.include({ copied: 1, damaged: 1 });
  });

  it("of an EventStoreDB server has what the server's own tools leave out", async () => {
    const node = await startEventStoreDBNode();
    try {
      env = { ...env, EVENT_STORE: node.url, MASTER_KEY: Buffer.alloc(32, 9).toString("base64") };
      await seal();
      const { manifest } = await backUp();
      expect(await filesIn("backup")).to.deep.equal(["manifest.json"]);
      expect(manifest.log).to.equal(null);
      expect(manifest.newestSeal?.note).to.match(/^voxledger\//);
      expect(await refusal(restore())).to.include("is restored with the server's own tools");
    } finally {
      await node.close();
    }
  });

  it("copies no audio with --no-audio", async () => {
    await put("a");
    expect((await backUp({ hasAudio: false })).manifest.audio).to.equal(null);
    for (const name of ["events.db", "seal.pub", "master.key"]) await rm(inFolder(`data/${name}`));
    for (const name of await readdir(inFolder("data")))
      if (name !== "audio") await rm(inFolder(`data/${name}`), { recursive: true });
    expect(await restore({ hasAudio: false })).to.include({ audio: undefined });
    expect(await filesIn("data/audio")).to.deep.equal([`${hashOf("a")}.mp3`]);
  });
});
