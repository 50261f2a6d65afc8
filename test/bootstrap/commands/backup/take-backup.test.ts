import { chmod, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { expect } from "chai";
import { filesOf } from "../../../../src/application/backup/manifest.ts";
import { lockFile } from "../../../../src/eventstore/sqlite/lock-file.ts";
import { duringTest } from "../../../support/during.ts";
import { startEventStoreDBNode } from "../../../support/eventstoredb-node/node.ts";
import { temporaryFolder } from "../../../support/service.ts";
import { fileOf, hashOf, type Installation, installationIn, nameOf, refusal } from "./installation.ts";

describe("a backup", () => {
  const folder = duringTest(temporaryFolder);
  let installed: Installation;
  beforeEach(async () => {
    installed = installationIn(folder.path, { ADMIN_TOKEN: "an-operator's-token" });
    await installed.register("example.com");
    await installed.seal();
  });

  const own = ["voxledger-backup.lock", "manifest.json"];

  it("holds the log, the public keys, and settings without secrets", async () => {
    const { backUp, filesIn, read, inFolder } = installed;
    const { manifest } = await backUp({ hasAudio: false });
    const { log, masterKeyId, sealKeys, newestSeal, settings, withheldSettings } = manifest;
    expect(await filesIn("backup")).to.have.members([...own, log?.file]);
    expect(JSON.parse(await read("backup/manifest.json"))).to.deep.equal(manifest);
    expect(masterKeyId).to.match(/^[0-9a-f]{16}$/);
    expect(`${sealKeys.join("\n")}\n`).to.equal(await read("data/seal.pub"));
    expect(newestSeal?.note).to.match(/^voxledger\//);
    expect(settings).to.deep.equal({ DATA_DIR: inFolder("data") });
    expect(withheldSettings).to.deep.equal(["ADMIN_TOKEN"]);
  });

  it("warns of a directory that other users may read or change, as its restore does", async () => {
    const { backUp, lose, restore, inFolder } = installed;
    expect((await backUp({ withKey: true })).warnings).to.deep.equal([]);
    await chmod(inFolder("backup"), 0o750);
    const directory = inFolder("backup");
    const warnings = [`${directory} is accessible to other users: chmod go= ${directory}`];
    expect((await backUp({ withKey: true })).warnings).to.deep.equal(warnings);
    await lose();
    expect((await restore()).warnings).to.deep.equal(warnings);
  });

  it("can be repeated in its directory: only new audio is copied, and former files are removed", async () => {
    const { backUp, put, filesIn, inFolder } = installed;
    await put("a");
    expect((await backUp()).audio).to.include({ objects: 1, copied: 1 });
    await put("b");
    await writeFile(inFolder("backup/events-of-mine.db"), "kept");
    const { audio, manifest } = await backUp({ withKey: true });
    expect(audio).to.include({ objects: 2, copied: 1 });
    const objects = ["a", "b"].map((digit) => `${hashOf(digit)}.mp3`);
    expect(await filesIn("backup")).to.have.members([
      ...[...own, ...filesOf(manifest), ...objects, "events-of-mine.db"],
    ]);
  });

  it("holds the master key in the file that the manifest names, until a backup without it", async () => {
    const { backUp, filesIn } = installed;
    const { manifest, keyId } = await backUp({ withKey: true });
    expect(manifest.masterKey?.file).to.match(new RegExp(`^master-key-${keyId}-`));
    const { manifest: second } = await backUp({ withKey: true });
    expect(second.masterKey?.file).not.to.equal(manifest.masterKey?.file);
    expect(await filesIn("backup")).to.include(second.masterKey?.file);
    expect(await filesIn("backup")).not.to.include(manifest.masterKey?.file);
    await backUp();
    expect((await filesIn("backup")).filter((name) => name.startsWith("master-key"))).to.deep.equal([]);
  });

  it("is refused while another one is written into its directory", async () => {
    const { backUp, restore, inFolder, lose } = installed;
    const results = await Promise.allSettled([backUp({ withKey: true }), backUp(), backUp()]);
    const done = results.filter(({ status }) => status === "fulfilled");
    expect(done.length).to.be.at.least(1);
    for (const result of results)
      if (result.status === "rejected")
        expect(String(result.reason)).to.include("another backup is being written");
    await backUp({ withKey: true });
    const lock = await lockFile(inFolder("backup/voxledger-backup.lock"));
    expect(await refusal(backUp())).to.include("another backup is being written into");
    lock?.[Symbol.dispose]();
    await lose();
    expect(await restore()).to.include({ hasMasterKey: true });
  });

  it("is not written into a directory of anything else, or of another log", async () => {
    const { backUp, lose, seal, filesIn, inFolder } = installed;
    await backUp();
    await lose();
    await seal();
    const before = await filesIn("backup");
    expect(await refusal(backUp())).to.include("holds a backup of another log");
    expect(await filesIn("backup")).to.deep.equal(before);
    await mkdir(inFolder("music/audio"), { recursive: true });
    expect(await refusal(backUp({ to: "music" }))).to.include("holds audio and no backup: name another");
    expect(await readdir(inFolder("music"))).to.deep.equal(["audio"]);
    await writeFile(inFolder("music/manifest.json"), "{}");
    expect(await refusal(backUp({ to: "music" }))).to.include("manifest.json is not one of this version's");
    expect(await readdir(inFolder("music"))).to.have.members(["audio", "manifest.json"]);
  });

  it("is not written into live data, also through symbolic links", async () => {
    const { backUp, env, inFolder, register } = installed;
    await symlink(inFolder("data"), inFolder("link"));
    for (const to of ["data", "data/backup", "data/audio/backup", ".", "link", "link/backup", "link/../data"])
      expect(await refusal(backUp({ to })), to).to.include("must be apart from DATA_DIR");
    env.DATA_DIR = inFolder("link");
    expect(await refusal(backUp({ to: "data/backup" }))).to.include("must be apart from DATA_DIR");
    env.AUDIO_STORE = `file:${inFolder("elsewhere")}`;
    expect(await refusal(backUp({ to: "elsewhere" }))).to.include("must be apart from AUDIO_STORE");
    await mkdir(inFolder("log"));
    await symlink(inFolder("log"), inFolder("log-link"));
    env.EVENT_STORE = `sqlite:${inFolder("log-link/events.db")}`;
    await register("example.net");
    expect(await refusal(backUp({ to: "log" }))).to.include("must be apart from EVENT_STORE");
    expect(await readdir(inFolder("log")))
      .to.include("events.db")
      .and.not.to.include("voxledger-backup.lock");
  });

  it("follows no symbolic links in folders of audio", async () => {
    const { backUp, put, inFolder } = installed;
    await put("a");
    await mkdir(inFolder("backup"));
    await writeFile(inFolder("backup/voxledger-backup.lock"), "");
    await symlink(inFolder("data/audio"), inFolder("backup/audio"));
    expect(await refusal(backUp())).to.include("is a symbolic link");
    await rm(inFolder("backup/audio"));
    await symlink("/etc/hostname", inFolder(`data/audio/${fileOf("a")}.link`));
    expect(await refusal(backUp())).to.include("is a symbolic link");
  });

  it("that failed leaves nothing behind, and does not prevent later ones", async () => {
    const { backUp, filesIn, env, put } = installed;
    await put("a");
    const controller = new AbortController();
    controller.abort(new Error("interrupted"));
    expect(await refusal(backUp({ signal: controller.signal }))).to.equal("interrupted");
    expect(await filesIn("backup")).to.deep.equal(["voxledger-backup.lock"]);
    env.MASTER_KEY = Buffer.alloc(32, 9).toString("base64");
    expect(await refusal(backUp({ withKey: true }))).to.include("MASTER_KEY: this key is");
    delete env.MASTER_KEY;
    expect((await backUp()).audio).to.include({ objects: 1 });
  });

  it("removes what a killed one has left", async () => {
    const { backUp, inFolder } = installed;
    await backUp();
    await mkdir(inFolder("backup/voxledger-backup.incomplete"));
    await writeFile(inFolder("backup/voxledger-backup.incomplete/events-1.db"), "x");
    await writeFile(inFolder("backup/events-20261128T120000000Z-0123abcd.db"), "x");
    await writeFile(inFolder("backup/notes.txt"), "x");
    const { manifest } = await backUp();
    expect((await readdir(inFolder("backup"))).sort()).to.deep.equal(
      [
        ...["audio", "manifest.json", "notes.txt", "voxledger-backup.lock"],
        ...[manifest.log?.file, manifest.audio?.file],
      ].sort(),
    );
  });

  it("removes copies of audio that an operator has deleted, and keeps other copies", async () => {
    const { backUp, put, remove, deleteAudio, filesIn } = installed;
    for (const digit of "abc") await put(digit);
    await backUp();
    await deleteAudio("a");
    await remove("b");
    await deleteAudio("c");
    await put("c", "made again");
    expect((await backUp()).audio).to.include({ objects: 1, gone: 2 });
    const copies = (await filesIn("backup/audio")).sort();
    expect(copies).to.deep.equal(["b", "c"].map((digit) => `${hashOf(digit)}.mp3`));
  });

  it("repairs copies that were damaged, with --verify", async () => {
    const { backUp, put, read, inFolder } = installed;
    await put("a");
    await backUp();
    const copy = `backup/audio/${fileOf("a")}`;
    const whole = await read(copy);
    await writeFile(inFolder(copy), whole.replace("audio", "Audio"));
    expect((await backUp({ verifies: true })).audio).to.include({ copied: 1, repaired: 1 });
    expect(await read(copy)).to.equal(whole);
  });

  it("names damaged audio of the service", async () => {
    const { backUp, put, inFolder } = installed;
    for (const digit of "ab") await put(digit);
    await writeFile(inFolder(`data/audio/${fileOf("a")}`), "damaged");
    expect((await backUp()).audio).to.deep.include({ objects: 1, damaged: [nameOf("a")] });
  });

  it("of an EventStoreDB server has what the server's own tools leave out", async () => {
    const node = await startEventStoreDBNode();
    try {
      const { env, seal, backUp, filesIn } = installed;
      Object.assign(env, { EVENT_STORE: node.url, MASTER_KEY: Buffer.alloc(32, 9).toString("base64") });
      await seal();
      const { manifest } = await backUp({ hasAudio: false });
      expect(await filesIn("backup")).to.have.members(own);
      expect(manifest.log).to.equal(null);
      expect(manifest.newestSeal?.note).to.match(/^voxledger\//);
    } finally {
      await node.close();
    }
  });
});
