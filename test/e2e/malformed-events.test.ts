import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { binaryEvent, EventStoreDBClient, jsonEvent } from "@eventstore/db-client";
import { expect } from "chai";
import { hashSecret } from "../../src/application/access/secrets.ts";
import { admin, type Credentials, registerWebsite, synthesize } from "../support/client.ts";
import { startEventStoreDBProcess } from "../support/eventstoredb-process.ts";
import { type RunningService, startInstance } from "../support/instance.ts";
import { temporaryFolder } from "../support/service.ts";

interface Stage {
  /** What the service is started with. */
  readonly env: Record<string, string>;
  /** Appends past the service's own rules, as another program would. */
  append(stream: string, type: string, data: unknown): Promise<void>;
  /** Hides an event of a stream in one of another stream, where the store allows it. */
  hide?(stream: string, type: string, data: object): Promise<void>;
  end(): Promise<void>;
}

const notJson = Buffer.from([0xff, 0x00, 0x7b]);

const overSqlite = async (dataDir: string): Promise<Stage> => {
  const insert = (stream: string, body: string): void => {
    const db = new DatabaseSync(join(dataDir, "events.db"), { timeout: 5_000 });
    db.prepare("INSERT OR IGNORE INTO streams (name) VALUES (?)").run(stream);
    db.prepare(
      `INSERT INTO events (stream, revision, id, created, body)
       SELECT s.id, ifnull((SELECT max(revision) + 1 FROM events WHERE stream = s.id), 0), ?, 0, ? FROM streams s WHERE s.name = ?`,
    ).run(randomUUID(), body, stream);
    db.close();
  };
  return {
    env: {},
    append: async (stream, type, data) => {
      const json = data === notJson ? "5" : JSON.stringify(data);
      insert(stream, `"type":${JSON.stringify(type)},"data":${json},"metadata":{}`);
    },
    hide: async (stream, type, data) => {
      const harmless = `"type":"AnotherProgramsEvent","data":{},"metadata":{}`;
      const hidden = {
        id: randomUUID(),
        type,
        data,
        metadata: {},
        stream,
        revision: 9,
        position: 1e9,
        created: 1,
      };
      insert("rate-another", `${harmless}},${JSON.stringify(hidden)},{${harmless}`);
    },
    end: async () => {},
  };
};

const overEventStoreDb = async (): Promise<Stage> => {
  const node = await startEventStoreDBProcess();
  const client = EventStoreDBClient.connectionString(node.url);
  return {
    env: { EVENT_STORE: node.url, MASTER_KEY: randomBytes(32).toString("base64") },
    append: async (stream, type, data) => {
      const event =
        data === notJson
          ? binaryEvent({ type, data: notJson })
          : jsonEvent({ type, data: data as Record<string, unknown> });
      await client.appendToStream(stream, event);
    },
    end: async () => {
      await client.dispose();
      await node.kill();
    },
  };
};

for (const [name, open] of Object.entries({ SQLite: overSqlite, EventStoreDB: overEventStoreDb })) {
  describe(`malformed events in a log of ${name}`, () => {
    const text = "Hello there";
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let stage: Stage;
    let service: RunningService;
    let website: Credentials;
    let keyStream: string;

    const speak = async (credentials: Credentials): Promise<number> => {
      const response = await synthesize(service.url, credentials, { text, lang: "en-GB" });
      await response.arrayBuffer();
      return response.status;
    };
    const used = async (): Promise<unknown> =>
      (await admin(service.url, "GET", `/keys/${website.apiKey}/usage`)).body.characters;
    const health = async () => {
      const response = await fetch(`${service.url}/health`);
      return { code: response.status, ...((await response.json()) as { status: string; parts: object }) };
    };

    before(async () => {
      folder = await temporaryFolder();
      stage = await open(folder.path);
      service = await startInstance(folder.path, stage.env);
      website = await registerWebsite(service.url, { monthlyCharacters: 1_000 });
      expect(await speak(website)).to.equal(200);
      const month = new Date().toISOString().slice(0, 7);
      keyStream = `key-${website.apiKey}`;
      for (const data of [null, "a secret text", notJson]) {
        await stage.append(keyStream, "AnotherProgramsEvent", data);
        await stage.append(`usage-${website.apiKey}-${month}`, "UsagePosted", data);
        await stage.append(`quota-${website.apiKey}-${month}`, "CharactersReserved", data);
      }
      await stage.append(`usage-${website.apiKey}-${month}`, "UsagePosted", { characters: 100 });
    });
    after(async () => {
      await service?.stop();
      await stage.end();
      await folder.remove();
    });

    it("keep nothing from being served, nor from being counted exactly", async () => {
      expect(await speak(website)).to.equal(200);
      expect(await used()).to.equal(2 * text.length);
      expect((await admin(service.url, "GET", `/keys/${website.apiKey}`)).body.usage).to.include({
        characters: 2 * text.length,
      });
    });

    it("do not keep a revoked secret from being refused", async () => {
      const { body } = await admin(service.url, "POST", `/keys/${website.apiKey}/secrets`);
      const renewed = { ...website, apiSecret: String(body.apiSecret) };
      expect(await speak(renewed)).to.equal(200);
      const { secrets } = (await admin(service.url, "GET", `/keys/${website.apiKey}`)).body as {
        secrets: { secretId: string }[];
      };
      await admin(service.url, "DELETE", `/keys/${website.apiKey}/secrets/${secrets[0]?.secretId}`);
      expect(await speak(website)).to.equal(401);
      website = renewed;
    });

    it("are counted in health, and logged by their place alone", async () => {
      const { code, status, parts } = await health();
      expect({ code, status }).to.deep.equal({ code: 200, status: "ok" });
      // Those of the key, of its usage and of its quota, which no view reads.
      expect(JSON.stringify(parts)).to.contain("10 malformed, skipped; the last at position");
      expect(JSON.stringify(parts)).not.to.contain(website.apiKey);
      const lines = service.log.filter((line) => line.includes("skipped a malformed event"));
      expect(lines).to.have.length(10);
      const ofKey = lines.filter((line) => JSON.parse(line).stream === keyStream);
      expect(ofKey).to.have.length(3);
      expect(JSON.parse(ofKey[0] ?? "")).to.deep.include({
        stream: keyStream,
        revision: 2,
        type: "AnotherProgramsEvent",
      });
      expect(service.log.join("")).not.to.contain("a secret text");
    });

    it("are counted beside journals that the registry does not name", async () => {
      for (const stream of ["journal-42", "journal-43"]) await stage.append(stream, "Booked", {});
      const detail = async () => JSON.stringify((await health()).parts);
      while (!(await detail()).includes("2 journals are another program's")) await delay(100);
      expect(await detail()).to.contain("10 malformed, skipped");
    });

    it("are in the audit of the key", async () => {
      const response = await fetch(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
        headers: { Authorization: "Bearer an-operator's-token-for-tests" },
      });
      const lines = (await response.text()).trim().split("\n");
      const types = lines.map((line) => JSON.parse(line).type as string);
      expect(types.filter((type) => type === "AnotherProgramsEvent")).to.have.length(3);
    });

    it("are skipped in the same way after a restart", async () => {
      const before = 3 * text.length;
      expect(await service.stop()).to.equal(0);
      service = await startInstance(folder.path, stage.env);
      expect(await used()).to.equal(before);
      expect(await speak(website)).to.equal(200);
      expect(await used()).to.equal(before + text.length);
      expect(JSON.stringify((await health()).parts)).to.contain("10 malformed, skipped");
    });

    it("give no access in another kind of stream, or within another event", async () => {
      const secretOf = (apiSecret: string) => ({
        secretId: `sec_${apiSecret}`,
        hash: hashSecret(apiSecret),
        at: new Date().toISOString(),
      });
      await stage.append(keyStream, "SecretCreated", secretOf("vls_known"));
      await stage.append("rate-another", "SecretCreated", secretOf("vls_elsewhere"));
      await stage.hide?.(keyStream, "SecretCreated", secretOf("vls_hidden"));
      await stage.append(keyStream, "SecretCreated", secretOf("vls_last"));
      const withSecret = (apiSecret: string) => speak({ ...website, apiSecret });
      while ((await withSecret("vls_last")) !== 200) await delay(50);
      expect(await withSecret("vls_known")).to.equal(200);
      expect(await withSecret("vls_elsewhere")).to.equal(401);
      expect(await withSecret("vls_hidden")).to.equal(401);
    });
  });
}
