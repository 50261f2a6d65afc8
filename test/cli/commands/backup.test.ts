import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Manifest } from "../../../src/application/backup/manifest.ts";
import {
  type RestoreBackup,
  type RestoreOptions,
  registerBackupCommands,
} from "../../../src/cli/commands/backup.ts";
import { createNoteSigner } from "../../../src/domain/ledger/seals/note-signer.ts";
import { type CommandResult, runCommand } from "../../support/command-line.ts";
import { duringTest } from "../../support/during.ts";
import { temporaryFolder } from "../../support/service.ts";

const manifest: Manifest = {
  format: 1,
  version: "0.2.0",
  takenAt: "2026-11-28T12:00:00.000Z",
  logId: "log-1",
  streamPrefix: "",
  position: 1_452,
  log: { file: "events-1.db", bytes: 421_888, sha256: "0".repeat(64) },
  masterKeyId: "mk-1",
  sealKeys: [],
  newestSeal: { position: 1_441, at: "2026-11-28T11:30:00.000Z", note: "a note" },
  masterKey: null,
  audio: null,
  settings: {},
  withheldSettings: [],
};
const copied = { objects: 12, bytes: 123_456, copied: 2, repaired: 0, gone: 0, damaged: [] };
const audio = { objects: 12, restored: 12, deleted: 0, missing: [], damaged: [] };
const complete = {
  ...{ manifest, audio, pausedWebhooks: 0, isSealed: true, hasMasterKey: true, warnings: [] },
  log: { seals: "trusted", unsealed: 3, missingArchives: [] },
} as const;
const verifierKey = createNoteSigner("voxledger/log-1", Buffer.alloc(32, 7)).verifierKey;

describe("the commands backup and restore", () => {
  const folder = duringTest(temporaryFolder);
  let passphrase: string | undefined;
  let warnings: string[];
  let restored: Awaited<ReturnType<RestoreBackup>>;
  let options: RestoreOptions | undefined;
  let work: (signal: AbortSignal) => Promise<unknown>;
  beforeEach(() => {
    passphrase = undefined;
    warnings = [];
    restored = complete;
    work = async () => {};
  });

  const voxledger = (...args: string[]): Promise<CommandResult> =>
    runCommand({}, args, (program) =>
      registerBackupCommands(
        program,
        async (_, { hasAudio, readPassphrase, signal }) => {
          await work(signal);
          passphrase = await readPassphrase?.();
          return {
            manifest,
            audio: hasAudio ? copied : undefined,
            keyId: readPassphrase && "mk-1",
            warnings,
          };
        },
        async (_, given) => {
          options = given;
          return restored;
        },
      ),
    );
  const passphraseFile = async (text: string): Promise<string> => {
    const file = join(folder.path, "passphrase");
    await writeFile(file, text);
    return file;
  };

  it("print what was backed up", async () => {
    const { exitCode, stdout } = await voxledger("backup", "/backup");
    expect(exitCode).to.equal(0);
    expect(stdout.split("\n")).to.deep.equal([
      "backup       /backup",
      "taken        2026-11-28T12:00:00.000Z",
      "position     1,452",
      "log          421,888 bytes",
      "newest seal  of 2026-11-28T11:30:00.000Z, up to position 1,441",
      "audio        12 objects of 123,456 bytes, 2 of them copied now",
      "master key   not included: keep it elsewhere",
      "",
    ]);
    expect((await voxledger("backup", "/backup", "--no-audio")).stdout).to.match(/^audio +not included$/m);
  });

  it("warn of a directory that is open to others", async () => {
    warnings = ["/backup is open"];
    restored = { ...complete, warnings };
    for (const name of ["backup", "restore"]) {
      const { exitCode, stdout } = await voxledger(name, "/backup");
      expect(exitCode).to.equal(0);
      expect(stdout).to.match(/^warning +\/backup is open$/m);
    }
  });

  it("read the passphrase of the master key from a file", async () => {
    const file = await passphraseFile("correct horse battery staple\n");
    const { stdout } = await voxledger("backup", "/backup", "--with-key", "--passphrase-file", file);
    expect(stdout).to.match(/^master key +mk-1, encrypted$/m);
    expect(passphrase).to.equal("correct horse battery staple");
  });

  it("refuse a passphrase that would encrypt nothing", async () => {
    const file = await passphraseFile("correct horse battery staple\n");
    const { exitCode, stderr } = await voxledger("backup", "/backup", "--passphrase-file", file);
    expect(exitCode).to.equal(1);
    expect(stderr).to.include("which only --with-key includes");
  });

  it("refuse a short passphrase", async () => {
    const file = await passphraseFile("too short\n");
    const { exitCode, stderr } = await voxledger("backup", "/b", "--with-key", "--passphrase-file", file);
    expect(exitCode).to.equal(1);
    expect(stderr).to.equal("error: the passphrase must have at least 12 characters\n");
  });

  it("exit with 2 if something is left to do after a restore, and say what", async () => {
    const { exitCode, stdout } = await voxledger("restore", "/backup");
    expect(exitCode).to.equal(0);
    expect(stdout).to.match(
      /^verified +the seals are signed with the log's key; 3 later events have no seal$/m,
    );
    expect(stdout).to.match(/^audio +12 of 12 objects$/m);
    const lines: [object, RegExp][] = [
      [{ hasMasterKey: false }, /^master key +missing: put the key mk-1 into DATA_DIR\/master\.key/m],
      [{ isSealed: false }, /^seal +none states the restore.* --log-restored --no-audio; .* --without-key$/m],
      [
        { log: { ...complete.log, seals: "untrusted" } },
        /^verified +only with the keys in the backup itself/m,
      ],
      [{ log: { ...complete.log, seals: "unsealed" } }, /^verified +there is no seal: /m],
      [
        { pausedWebhooks: 3 },
        /^webhooks +3 paused: continue each with `voxledger webhook change ID --enable`$/m,
      ],
      [{ audio: { ...audio, missing: ["a", "b"] } }, /2 are missing in the backup\nmissing +a b$/m],
      [{ audio: { ...audio, damaged: ["c"] } }, /1 are damaged\ndamaged +c$/m],
    ];
    for (const [left, line] of lines) {
      restored = { ...complete, ...left };
      const { exitCode, stdout } = await voxledger("restore", "/backup");
      expect(exitCode, String(line)).to.equal(2);
      expect(stdout).to.match(line);
    }
  });

  it("pass the options of a restore", async () => {
    const without = ["--without-key", "--without-seal", "--no-audio"];
    await voxledger("restore", "/b", "--key", verifierKey, "--log-restored", ...without);
    expect(options).to.include({ withoutKey: true, withoutSeal: true, isLogRestored: true, hasAudio: false });
    expect(options?.keys.map(({ name }) => name)).to.deep.equal(["voxledger/log-1"]);
    expect((await voxledger("restore", "/b", "--key", "x")).stderr).to.include("--key is not a verifier key");
  });

  it("are aborted by SIGINT and SIGTERM", async () => {
    for (const name of ["SIGINT", "SIGTERM"] as const) {
      // Other listeners of this process, such as those of a browser's driver, would end it.
      const others = process.listeners(name);
      work = async (signal) => {
        for (const listener of process.listeners(name)) if (!others.includes(listener)) listener(name);
        signal.throwIfAborted();
      };
      const { exitCode, stderr } = await voxledger("backup", "/backup");
      expect(exitCode).to.equal(1);
      expect(stderr).to.equal("error: interrupted\n");
    }
  });
});
