import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Command } from "commander";
import type { Erasure } from "../../src/application/admin/erase-website.ts";
import type { WebsiteRecord } from "../../src/application/admin/website-record.ts";
import { composeAuditProof } from "../../src/bootstrap/commands/audit-proof.ts";
import { registerAuditProofCommands } from "../../src/cli/commands/audit-proof.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { readSettings } from "../../src/settings/read-settings.ts";
import { type Credentials, synthesize } from "../support/client.ts";
import { collect } from "../support/collect.ts";
import { type CommandResult, runCommand } from "../support/command-line.ts";
import { duringTest } from "../support/during.ts";
import { startEventStoreDBNode } from "../support/eventstoredb-node/node.ts";
import { filesWith } from "../support/find-text.ts";
import { adminToken, masterKey, type RunningService, startInstance } from "../support/instance.ts";
import { temporaryFolder } from "../support/service.ts";

const [name, host, pending] = ["Quillfrost", "velvetmarsh", "copperfinch"] as const;
const markers = [name, host, pending];
const text = { text: "A text of the shop.", voice: "UK English Female" };
const origin = `https://${host}.example`;

type Website = Credentials & { readonly secretId: string };

for (const kind of ["SQLite", "EventStoreDB"] as const) {
  describe(`The erasure of a website (${kind})`, () => {
    const folder = duringTest(temporaryFolder);
    let env: Record<string, string>;
    let services: RunningService[];
    let openStore: () => Promise<EventStore>;
    let stopStore: () => Promise<void>;

    beforeEach(async () => {
      services = [];
      env = {
        DATA_DIR: join(folder.path, "data"),
        MASTER_KEY: masterKey,
        ADMIN_TOKEN: adminToken,
        AUDIO_SHARING: "none", // makes all audio private
      };
      if (kind === "SQLite") {
        openStore = () => openSqliteEventStore({ path: join(folder.path, "data", "events.db") });
        stopStore = async () => {};
        return;
      }
      const node = await startEventStoreDBNode({ dataFile: join(folder.path, "log") });
      env = { ...env, EVENT_STORE: node.url };
      openStore = () => openEventStoreDB({ url: node.url });
      stopStore = node.close;
    });
    afterEach(async () => {
      for (const service of services) await service.stop();
      await stopStore();
    });

    const start = async (): Promise<RunningService> => {
      const service = await startInstance(env.DATA_DIR ?? "", env);
      services.push(service);
      return service;
    };
    const stop = async (service: RunningService): Promise<void> => {
      services = services.filter((one) => one !== service);
      await service.stop();
    };
    const voxledger = async (...args: string[]): Promise<CommandResult> =>
      await runCommand(env, args, (program: Command) =>
        registerAuditProofCommands(
          program,
          composeAuditProof(() => readSettings(env)),
        ),
      );
    const json = async <T>(...args: string[]): Promise<T> => {
      const { exitCode, stdout, stderr } = await voxledger(...args, "--json");
      expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    const create = (...given: string[]): Promise<Website> => json("website", "create", ...given);
    const erase = (id: string): Promise<Erasure> => json("website", "erase", id, "--yes");
    const fromPage = ({ url }: RunningService, { apiKey }: Website): Promise<Response> =>
      fetch(`${url}/v2/text/synthesize?${new URLSearchParams(text)}`, {
        headers: { "X-API-Key": apiKey, Origin: origin },
      });
    const found = async (): Promise<string[]> =>
      (await Promise.all(markers.map((marker) => filesWith(folder.path, marker)))).flat();
    /** A service writes its snapshots again as soon as it has read of an erasure. */
    const untilForgotten = async (): Promise<void> => {
      while ((await found()).length > 0) await delay(20);
    };
    const exported = async (fileName: string): Promise<string[]> => {
      const file = join(folder.path, fileName);
      expect(await voxledger("audit", "export", file)).to.include({ exitCode: 0, stderr: "" });
      return (await readFile(file, "utf8")).split("\n");
    };

    it("leaves its name and origins in no file, ends its keys, and keeps its usage and the proof", async () => {
      const service = await start();
      const website = await create(name, "--origin", origin);
      await json("website", "verification", website.id, `https://${pending}.example`);
      const rules = join(folder.path, "rules");
      await writeFile(rules, JSON.stringify({ rules: [{ grapheme: "W3C", alias: "consortium" }] }));
      await json("lexicons", "set", website.id, "names", rules);
      expect((await synthesize(service.url, website, text)).status).to.equal(200);
      expect((await fromPage(service, website)).status).to.equal(200);
      expect(await found()).to.deep.equal([]);

      const record = await json<WebsiteRecord>("website", "show", website.id, "--everything");
      expect(record.website).to.include({ name });
      const unconfirmed = await voxledger("website", "erase", website.id);
      expect(unconfirmed.exitCode).to.equal(1);
      expect(unconfirmed.stderr).to.include("confirm with --yes");
      expect(record).to.deep.include({ servings: 2, credentials: [] });
      expect(record.website.origins).to.deep.equal([origin]);
      expect(record.verifications).to.have.length(1);
      expect(record.lexicons.map((one) => one.name)).to.deep.equal(["names"]);
      expect(record.events.map(({ type }) => type)).to.include.members(["WebsiteRegistered", "LexiconSet"]);
      const before = await exported("before");
      const { requests } = await json<{ requests: number }>("usage", website.apiKey);

      const { keys, deletedAudio, stays, erasedAt } = await erase(website.id);
      expect({ keys, deletedAudio }).to.deep.equal({ keys: [website.apiKey], deletedAudio: 1 });
      expect(stays.map(({ holds }) => holds)).to.deep.equal(["the rules of a lexicon"]);
      while ((await synthesize(service.url, website, text)).status !== 401) await delay(10);
      await untilForgotten();
      for (const line of service.log) for (const marker of markers) expect(line).not.to.include(marker);
      expect((await fromPage(service, website)).status).to.equal(401);

      expect(await erase(website.id)).to.include({ erasedAt, deletedAudio: 0 });
      const shown = await json<WebsiteRecord>("website", "show", website.id, "--everything");
      expect(shown.website).to.deep.include({ name: "(erased)", origins: [], erasedAt });
      expect(shown).to.deep.include({ servings: 2, lexicons: [], verifications: [] });
      expect(await json("usage", website.apiKey)).to.include({ requests });
      for (const args of [
        ["website", "origins", website.id, origin],
        ["key", "create", website.id],
        ["key", "reinstate", website.apiKey],
        ["secret", "create", website.apiKey],
      ]) {
        expect(await voxledger(...args)).to.include({
          exitCode: 1,
          stderr: "error: The website was erased.\n",
        });
      }
      expect(await voxledger("audit", "verify")).to.include({ exitCode: 0, stderr: "" });
      const after = new Set(await exported("after"));
      const events = before.filter((line) => line.includes('"stream":'));
      expect(events).to.have.length.greaterThan(5);
      for (const line of events) expect(after.has(line), line).to.equal(true);
    });

    it("deletes the audio of requests that are in progress, when they have stored it", async () => {
      const service = await start();
      const website = await create("another");
      const stored = async (): Promise<string[]> =>
        (await readdir(join(folder.path, "data", "audio"), { recursive: true })).filter((path) =>
          path.endsWith(".mp3"),
        );
      const requests = [1, 2, 3, 4].map((count) =>
        synthesize(service.url, website, { ...text, text: "A long text. ".repeat(count * 200) }),
      );
      while ((await stored()).length === 0) await delay(5);
      await erase(website.id);
      for (const response of await Promise.all(requests)) await response.arrayBuffer();
      await stop(service);
      expect(await stored()).to.deep.equal([]);
    });

    it("removes the snapshots of a service that runs, and of one that does not", async () => {
      const service = await start();
      const [first, second] = [await create("another"), await create(name, "--origin", origin)];
      await erase(first.id); // the service writes snapshots after it
      while ((await found()).length === 0) await delay(20);
      await erase(second.id);
      await untilForgotten();
      const [third, fourth] = [await create("another"), await create(name, "--origin", origin)];
      await erase(third.id);
      while ((await found()).length === 0) await delay(20);
      await stop(service);
      await erase(fourth.id);
      expect(await found()).to.deep.equal([]);
      await start();
      expect(await json<{ name: string }[]>("website", "list")).to.have.length(4);
      expect(await found()).to.deep.equal([]);
    });

    it("keeps only the views of websites out of snapshots if the key of another website cannot be opened", async () => {
      const service = await start();
      const [broken, erased] = [await create("another"), await create(name, "--origin", origin)];
      const store = await openStore();
      const data = { ciphertext: "v1.AAAA", keyId: "0", at: "2026-01-01T00:00:00.000Z" };
      const event = { type: "DataKeyCreated", data, metadata: { actor: "cli" } };
      await store.append(`data-key-${broken.id}`, [{ ...event, id: crypto.randomUUID() }], 0);
      await store.close();
      while (!service.log.some((line) => line.includes(broken.id))) await delay(20);
      await erase(erased.id);
      const snapshots = join(folder.path, "data", "snapshots");
      while ((await filesWith(snapshots, erased.apiKey)).length === 0) await delay(20);
      expect(
        (await filesWith(snapshots, "website-web_")).filter((path) => path.includes("websites.v")),
      ).to.deep.equal([]);
      expect(await voxledger("website", "origins", broken.id, origin)).to.include({
        exitCode: 1,
        stderr: `error: The data key of ${broken.id} cannot be opened with the master keys of this process.\n`,
      });
    });

    it("deletes the key of the website, and lists events that hold its name in clear", async () => {
      const website = await create("another", "--origin", origin);
      const store = await openStore();
      const keyStream = `data-key-${website.id}`;
      const [key] = await collect(store.readStream(keyStream));
      const part = JSON.stringify(key?.data).slice(40, 70);
      expect(part).to.match(/^[\w-]{30}$/);
      expect(await filesWith(folder.path, part)).not.to.deep.equal([]);
      const at = "2026-01-01T00:00:00.000Z";
      const clear = { websiteId: "web_1", name, origins: [origin], at };
      const event = { type: "WebsiteRegistered", data: clear, metadata: { actor: "cli" } };
      await store.append("website-web_1", [{ ...event, id: crypto.randomUUID() }], "none");

      expect((await erase(website.id)).stays).to.deep.equal([]);
      expect(await collect(store.readStream(keyStream))).to.deep.equal([]);
      const { stays } = await erase("web_1");
      expect(stays.map(({ stream, type, holds }) => ({ stream, type, holds }))).to.deep.equal([
        { stream: "website-web_1", type: "WebsiteRegistered", holds: "the name and origins" },
      ]);
      await store.close();
      // A server removes deleted events from its files at its next scavenge.
      if (kind === "SQLite") expect(await filesWith(folder.path, part)).to.deep.equal([]);
      expect(await json<{ name: string }>("website", "show", "web_1")).to.include({ name: "(erased)" });
    });
  });
}
