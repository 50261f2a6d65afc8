import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { createCredentialsCipher } from "../../src/application/accounts/credentials-cipher.ts";
import { composeAuditProof } from "../../src/bootstrap/commands/audit-proof.ts";
import { composeReplaceMasterKey } from "../../src/bootstrap/commands/replace-master-key.ts";
import { deriveKeys } from "../../src/bootstrap/master-key.ts";
import { registerAuditProofCommands } from "../../src/cli/commands/audit-proof.ts";
import { registerMasterKeyCommands } from "../../src/cli/commands/master-key.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { withTemporaryFolder } from "../support/child-process.ts";
import { authorize, bytesOf, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { type CommandResult, runCommand } from "../support/command-line.ts";
import { duringTest } from "../support/during.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { type InProcessService, startError, startServiceForBrowser } from "../support/in-process-service.ts";
import { startInstance } from "../support/instance.ts";
import { until } from "../support/processes.ts";
import { temporaryFolder } from "../support/service.ts";
import { streamsAfter } from "../support/streams-after.ts";

const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString("base64");
const [old, next] = [keyOf(1), keyOf(2)];

interface Store {
  readonly url: string;
  open(): Promise<EventStore>;
  close(): Promise<void>;
}

const openSqlite = async (): Promise<Store> => {
  const folder = await temporaryFolder();
  const path = join(folder.path, "events.db");
  return { url: `sqlite:${path}`, open: () => openSqliteEventStore({ path }), close: folder.remove };
};

const openNode = async (): Promise<Store> => {
  const node = await startEventStoreDBNode();
  const open = async () => openEventStoreDB({ url: node.url });
  return { url: node.url, open, close: async () => void (await node.close()) };
};

for (const [name, openStore] of [
  ["SQLite", openSqlite],
  ["EventStoreDB", openNode],
] as const) {
  describe(`An auditor with the public key of the beginning, with ${name}`, () => {
    const store = duringTest(openStore);
    const folder = duringTest(temporaryFolder);
    const at = (file: string): string => join(folder.path, file);
    /** Long only while an instance runs that objects at once. */
    let objectionMs = 1;

    const environment = (keys: Record<string, string>) => ({
      DATA_DIR: at("data"),
      EVENT_STORE: store.url,
      ...keys,
    });
    /** Runs a command with these keys. */
    const voxledger = (keys: Record<string, string>, ...args: string[]): Promise<CommandResult> => {
      const env = environment(keys);
      const settings = () => readSettings(env);
      return runCommand(env, args, (program) => {
        registerAuditProofCommands(program, composeAuditProof(settings));
        registerMasterKeyCommands(program, composeReplaceMasterKey(settings, { objectionMs }));
      });
    };
    const succeed = async (keys: Record<string, string>, ...args: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await voxledger(keys, ...args);
      expect({ exitCode, stderr }, args.join(" ")).to.deep.equal({ exitCode: 0, stderr: "" });
      return stdout;
    };
    const exportTo = (file: string, keys: Record<string, string>) =>
      succeed(keys, "audit", "export", at(file));
    const verifyFile = (file: string, ...args: string[]) =>
      voxledger({}, "audit", "verify", at(file), ...args);
    const publicKeys = async (): Promise<string[]> =>
      (await readFile(at("data/seal.pub"), "utf8")).trimEnd().split("\n");
    const running = async <T>(
      keys: Record<string, string>,
      use: (service: InProcessService) => Promise<T>,
    ): Promise<T> => {
      const service = await startServiceForBrowser(environment(keys));
      objectionMs = 60_000;
      try {
        return await use(service);
      } finally {
        objectionMs = 1;
        await service.close();
      }
    };
    const speak = async ({ url }: InProcessService, website: Credentials): Promise<string> => {
      const spoken = await synthesize(url, website, { text: "One.", lang: "en-GB" });
      expect(spoken.status).to.equal(200);
      await bytesOf(spoken);
      return spoken.headers.get("Content-Location") ?? "";
    };

    it("verifies exports after rotations of the master key and of the seal key", async () => {
      await running({ MASTER_KEY: old }, async (service) => {
        await speak(service, await registerWebsite(service.url));
      });
      await exportTo("first", { MASTER_KEY: old });
      const [key = ""] = await publicKeys();

      // A rolling restart, and its end.
      const [before, after] = [
        { MASTER_KEY: old, MASTER_KEY_PREVIOUS: next },
        { MASTER_KEY: next, MASTER_KEY_PREVIOUS: old },
      ];
      await exportTo("second", after);
      await exportTo("third", before);
      await succeed(after, "credentials", "reencrypt");
      await exportTo("fourth", { MASTER_KEY: next });
      // A seal key of its own, another one, and none.
      const sealKeys = { MASTER_KEY: next, SEAL_KEY: keyOf(5) };
      await exportTo("fifth", sealKeys);
      await exportTo("sixth", { ...sealKeys, SEAL_KEY: keyOf(6), SEAL_KEY_PREVIOUS: keyOf(5) });
      await exportTo("last", { MASTER_KEY: next, SEAL_KEY_PREVIOUS: keyOf(6) });

      for (const file of ["first", "second", "third", "fourth", "fifth", "sixth", "last"]) {
        const { exitCode, stdout, stderr } = await verifyFile(file, "--key", key);
        expect({ exitCode, stderr }, file).to.deep.equal({ exitCode: 0, stderr: "" });
        if (file !== "last") continue;
        const [genuine, first, ...others] = stdout.trimEnd().split("\n");
        expect(genuine).to.match(/^genuine: /);
        expect(first).to.match(/^sealed up to position \d+ by voxledger\/\S+, which was given$/);
        expect(others).to.have.lengthOf(6);
        for (const other of others) {
          expect(other).to.match(
            /^then up to position \d+ by voxledger\/\S+, which voxledger\/\S+ endorsed$/,
          );
        }
      }
      await running({ MASTER_KEY: next, SEAL_KEY_PREVIOUS: keyOf(6) }, async ({ url }) => {
        const served = await (await fetch(`${url}/.well-known/voxledger-seal.pub`)).text();
        expect(served.trimEnd().split("\n"))
          .to.deep.equal(await publicKeys())
          .and.include(key);
      });
    });

    /** Resolves when the log has a seal. A start waits only a second for it. */
    const untilSealed = async (): Promise<void> => {
      const events = await store.open();
      try {
        for (let sealed = 0; sealed === 0; await delay(20))
          for await (const _ of events.readStream("seals")) sealed++;
      } finally {
        await events.close();
      }
    };

    it("needs no other key if it was fetched from a new service, before a rotation", async () => {
      const key = await running({ MASTER_KEY: old }, async ({ url }) => {
        await untilSealed();
        return (await (await fetch(`${url}/.well-known/voxledger-seal.pub`)).text()).trim();
      });
      await running({ MASTER_KEY: next, MASTER_KEY_PREVIOUS: old }, async () => {});
      await exportTo("rotated", { MASTER_KEY: next, MASTER_KEY_PREVIOUS: old });
      const { exitCode, stdout, stderr } = await verifyFile("rotated", "--key", key);
      expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
      expect(stdout).to.match(/^then up to position \d+ by .* endorsed$/m);
    });

    it("is told which key is missing if the seal key changed without the former one", async () => {
      await exportTo("first", { MASTER_KEY: old, SEAL_KEY: keyOf(5) });
      const [key = ""] = await publicKeys();
      await exportTo("second", { MASTER_KEY: old, SEAL_KEY: keyOf(6) });
      const [current = ""] = await publicKeys();
      const { exitCode, stdout, stderr } = await verifyFile("second", "--key", key);
      expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: "" });
      expect(stderr).to.match(/^error: not verified: genuine up to position \d+, but seals revision 1 /);
      expect(stderr).to.include(current);
      expect((await verifyFile("second", "--key", `${key} ${current}`)).exitCode).to.equal(0);
      expect((await verifyFile("second", "--key", current)).exitCode).to.equal(0);
    });

    it("learns up to where the log is genuine if the master key was lost", async () => {
      const website = await running({ MASTER_KEY: old }, async (service) => registerWebsite(service.url));
      const address = await running({ MASTER_KEY: old }, (service) => speak(service, website));
      await succeed({ MASTER_KEY: old }, "website", "origins", website.id, "https://old.example");
      const event = ["--event", "key.suspended"];
      await succeed({ MASTER_KEY: old }, "webhook", "add", "https://example.com/hook", ...event);
      await setCredentials(website.id);
      await exportTo("first", { MASTER_KEY: old });
      const [key = ""] = await publicKeys();
      await running({ MASTER_KEY: old }, (service) => speak(service, website));

      const lost = ["master-key", "replace", "--lost", "--reason", "the disk failed"];
      expect((await voxledger({ MASTER_KEY: next }, ...lost)).stderr).to.include("confirm with --yes");
      await running({ MASTER_KEY: old }, async () => {
        const { exitCode, stderr } = await voxledger({ MASTER_KEY: next }, ...lost, "--yes");
        expect(exitCode).to.equal(1);
        expect(stderr).to.match(/^error: The master key \w+ is not lost: the running instance \S+ has it\./);
      });
      // The public keys are lost, too.
      await rm(at("data/seal.pub"));
      const listed = await succeed({ MASTER_KEY: next }, ...lost, "--yes");
      expect(listed).to.match(/^lost master key +[0-9a-f]{16}$/m);
      expect(listed).to.match(new RegExp(`^removed credentials +${website.id} \\(gwn\\)$`, "m"));
      expect(listed).to.match(new RegExp(`^lost names and origins +${website.id}$`, "m"));
      expect(listed).to.match(/^removed webhooks +whk_\w+ https:\/\/example.com\/hook$/m);
      const [current = ""] = await publicKeys();
      expect(listed).to.include(`${current} (new: `);
      expect(listed).not.to.include(next);
      expect(await startError(environment({ MASTER_KEY: old }))).to.match(/^MASTER_KEY: this key is/);

      const env = { MASTER_KEY: next };
      const shown = await succeed(env, "website", "show", website.id);
      expect(shown)
        .to.match(/^name +\(lost\)$/m)
        .and.match(/^lost +name, origins: no key here decrypts/m);
      expect(shown).not.to.include("encrypted:");
      expect(await succeed(env, "website", "list")).to.match(/\(lost\).*\(lost\)$/m);
      await succeed(env, "website", "rename", website.id, "Shop");
      const restored = await succeed(env, "website", "origins", website.id, "https://shop.example");
      expect(restored)
        .to.match(/^name +Shop$/m)
        .and.match(/^origins +https:\/\/shop.example$/m);
      expect(restored).not.to.match(/^lost/m);

      await running({ MASTER_KEY: next }, async (service) => {
        const { url } = service;
        expect((await fetch(url + address)).status).to.equal(200);
        expect(await speak(service, website))
          .to.match(/^\/audio\//)
          .and.not.equal(address);
        const list = await fetch(`${url}/v2/voices`, { headers: authorize(website) });
        expect(list.status).to.equal(200);
      });
      await exportTo("second", { MASTER_KEY: next });
      const withOld = await verifyFile("second", "--key", key);
      expect(withOld).to.include({ exitCode: 1, stdout: "" });
      expect(withOld.stderr).to.match(
        /^error: not verified: genuine up to position \d+, but seals revision \d+ /,
      );
      expect(withOld.stderr)
        .to.include(current)
        .and.match(/says at position \d+ that the master key was lost/);
      expect((await verifyFile("second", "--key", `${key} ${current}`)).exitCode).to.equal(0);
      expect((await voxledger({}, "audit", "verify", "--key", key)).exitCode).to.equal(1);
      // What was sealed before cannot be changed, although the auditor has only the old key.
      const text = await readFile(at("second"), "utf8");
      await writeFile(at("edited"), text.replace('"name":"encrypted:', '"name":"encrypted.'));
      expect((await verifyFile("edited", "--key", key)).stderr).to.match(/^error: not genuine: line \d+ /);
    });

    it("is told that the keys are of another log", async () => {
      await exportTo("first", { MASTER_KEY: old });
      const [key = ""] = await publicKeys();
      const other = { MASTER_KEY: old, STREAM_PREFIX: "other-", DATA_DIR: at("other") };
      await exportTo("other-log", other);
      const { exitCode, stderr } = await verifyFile("other-log", "--key", key);
      expect(exitCode).to.equal(1);
      expect(stderr).to.match(
        /^error: not verified: the given keys are of another log: they are of \S+, and the seals of \S+\n$/,
      );
    });

    /** Stores credentials under the old key, as an instance does that has verified them. */
    const setCredentials = async (websiteId: string): Promise<void> => {
      const keys = deriveKeys([Buffer.from(old, "base64")], "credentials");
      const cipher = createCredentialsCipher({ keys, random: randomBytes });
      const encrypted = cipher.encrypt('{"apiKey":"k"}', { websiteId, engine: "gwn" });
      const set = {
        engine: "gwn",
        provider: "google",
        voices: [],
        ...encrypted,
        at: new Date().toISOString(),
      };
      const events = await store.open();
      const event = {
        id: crypto.randomUUID(),
        type: "CredentialsSet",
        data: set,
        metadata: { actor: "cli" },
      };
      await events.append(`credentials-${websiteId}`, [event], "any");
      await events.close();
    };
  });
}

describe("A lost key in DATA_DIR", () => {
  const folder = duringTest(temporaryFolder);

  it("is replaced by a new one there, only when it is lost, and also by a second run", async () => {
    const env = { DATA_DIR: folder.path };
    const settings = () => readSettings(env);
    const voxledger = (...args: string[]) =>
      runCommand(env, args, (program) => {
        registerAuditProofCommands(program, composeAuditProof(settings));
        registerMasterKeyCommands(program, composeReplaceMasterKey(settings, { objectionMs: 1 }));
      });
    const start = async () => (await startServiceForBrowser({ ...env, MASTER_KEY: "" })).close();
    await start();
    const lost = ["master-key", "replace", "--lost", "--yes", "--reason", "removed by mistake"];
    expect((await voxledger(...lost)).stderr).to.include("DATA_DIR/master.key has it");
    // It objects although MASTER_KEY is another one.
    const given = () => readSettings({ ...env, MASTER_KEY: next });
    const { stderr: refused } = await runCommand(env, lost, (program) =>
      registerMasterKeyCommands(program, composeReplaceMasterKey(given, { objectionMs: 1 })),
    );
    expect(refused).to.include("DATA_DIR/master.key has it");
    const [path, sealKeys] = [join(folder.path, "master.key"), join(folder.path, "seal.pub")];
    await voxledger("audit", "export", join(folder.path, "export"));
    const publicKey = await readFile(sealKeys, "utf8");
    const before = await readFile(path, "utf8");
    await rm(path);
    expect(await startError({ ...env, MASTER_KEY: "" })).to.include("If it is lost, see");
    // The first run ends before it can seal the log.
    await rm(sealKeys);
    await mkdir(sealKeys);
    expect(await voxledger(...lost)).to.include({ exitCode: 1, stdout: "" });
    const created = await readFile(path, "utf8");
    expect(created).not.to.equal(before);
    await rmdir(sealKeys);
    const { exitCode, stdout, stderr } = await voxledger(...lost);
    expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
    expect(await readFile(path, "utf8")).to.equal(created);
    const keys = await readFile(sealKeys, "utf8");
    expect(stdout).to.include(`${keys.trimEnd()} (new: `);
    expect(keys).not.to.include(publicKey);
    const verified = await voxledger("audit", "verify", "--key", publicKey.trimEnd());
    expect(verified.stderr).to.include("that the master key was lost");
    expect((await voxledger("audit", "verify")).exitCode).to.equal(0);
    await start();
  });
});

describe("A running instance with a key that was replaced as lost", () => {
  it("records nothing from then on, and exits with code 1 and one line", () =>
    withTemporaryFolder(async (folder) => {
      const settings = { EVENT_STORE: `sqlite:${folder}/events.db`, DRAIN_SECONDS: "1", MASTER_KEY: old };
      const service = await startInstance(folder, settings);
      const store = await openSqliteEventStore({ path: `${folder}/events.db` });
      const at = new Date().toISOString();
      const replaced = { reportId: "1", lostKeyId: "00", keyId: "0123456789abcdef", reason: "fire", at };
      const { position } = await store.append(
        "master-key",
        [
          { type: "MasterKeyRecorded", data: { keyId: replaced.keyId, at } },
          { type: "MasterKeyReplaced", data: replaced },
        ].map((event) => ({ id: crypto.randomUUID(), metadata: { actor: "cli" }, ...event })),
        "any",
      );
      const line =
        "voxledger: the lost master key 00 was replaced by 0123456789abcdef: start with that key as MASTER_KEY\n";
      await until("the instance reports the key", () => service.log.includes(line));
      expect(await service.stop()).to.equal(1);
      expect(await streamsAfter(store, position)).to.deep.equal([]);
      await store.close();
    }));
});
