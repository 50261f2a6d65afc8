/**
 * Requests per second for a sound in the memory cache, by 1,000 alternating keys, each recorded durably in its key's stream;
 * compared with a separate node:http process that sends as many bytes with the same headers. One wrk loads both.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hashSecret } from "../../src/application/access/secrets.ts";
import { keyStream } from "../../src/domain/accounts/key.ts";
import { websiteStream } from "../../src/domain/accounts/website.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { authorize, type Credentials } from "../../test/support/client.ts";
import { startService } from "../../test/support/service.ts";
import { startServer } from "./server-process.ts";
import { sideBySide } from "./side-by-side.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";
import { wrk } from "./wrk.ts";

const keys = 1_000;
const connections = 64;
const seconds = 5;
const text = "Every word that is spoken here is on the ledger.";
const path = `/v2/text/synthesize?${new URLSearchParams({ voice: "UK English Female", text })}`;

/** node:http writes these itself. */
const automatic = new Set(["date", "connection", "keep-alive"]);

const eventOf = (type: string, data: object): NewEvent => ({
  id: uuidv7(Date.now()),
  type,
  data,
  metadata: { actor: "system" },
});

/** A website and its key, written to the log as by the service. */
const issue = async (store: EventStore, n: number): Promise<Credentials> => {
  const name = String(n).padStart(24, "0");
  const [id, apiKey, apiSecret] = [`web_${name}`, `vlk_${name}`, `vls_${name}`];
  const at = new Date().toISOString();
  const plan = { tier: "enterprise", requestsPerMinute: 1_000_000, monthlyCharacters: null };
  const website = { websiteId: id, name: "a website", origins: [], at };
  const secret = { secretId: "sec_1", hash: hashSecret(apiSecret), at };
  await store.append(websiteStream(id), [eventOf("WebsiteRegistered", website)], "none");
  const issued = eventOf("KeyIssued", { apiKey, websiteId: id, plan, at });
  await store.append(keyStream(apiKey), [issued, eventOf("SecretCreated", secret)], "none");
  return { id, apiKey, apiSecret };
};

const issueAll = async (database: string): Promise<Credentials[]> => {
  const store = await openSqliteEventStore({ path: database });
  try {
    return await Promise.all(Array.from({ length: keys }, (_, n) => issue(store, n)));
  } finally {
    await store.close();
  }
};

/** The number of servings in the log. */
const countServings = async (database: string): Promise<number> => {
  const store = await openSqliteEventStore({ path: database });
  let servings = 0;
  try {
    for await (const { events, caughtUp } of store.subscribe({ prefixes: ["usage-"] })) {
      servings += events.filter(({ type }) => type === "SynthesisServed").length;
      if (caughtUp) return servings;
    }
  } finally {
    await store.close();
  }
  return servings;
};

/** A wrk script that alternates between the keys. */
const inTurn = (all: readonly Credentials[]): string => `
local requests, n = {}, 0
init = function()
${all
  .map(authorize)
  .map((headers) => Object.entries(headers).map(([name, value]) => `["${name}"]="${value}"`))
  .map((headers) => `  requests[#requests + 1] = wrk.format("GET", nil, {${headers.join(", ")}})`)
  .join("\n")}
end
request = function()
  n = n % #requests + 1
  return requests[n]
end
`;

await inTemporaryFolder(async (folder) => {
  const database = join(folder, "events.db");
  const all = await issueAll(database);
  const script = join(folder, "in-turn.lua");
  await writeFile(script, inTurn(all));
  const service = await startService(folder, { BURST_LIMIT: "1000000" });
  let served = 0;
  let cutOff = 0;
  try {
    const load = (url: string) => wrk({ url: url + path, headers: {}, connections, seconds, script });
    const askOnce = async (): Promise<Headers> => {
      const response = await fetch(service.url + path, { headers: authorize(all[0] as Credentials) });
      await response.arrayBuffer();
      if (response.status !== 200) throw new Error(`the first request was answered with ${response.status}`);
      served += 1;
      return response.headers;
    };
    await askOnce();
    const sameHeaders = [...(await askOnce())].filter(([name]) => !automatic.has(name));
    const bare = await startServer("./bare-server.ts", JSON.stringify(Object.fromEntries(sameHeaders)));
    try {
      await sideBySide({
        name: `cached GET, ${keys} keys in turn`,
        unit: "requests/s",
        aim: { atLeast: 0.3 },
        rounds: 5,
        warmUps: 1,
        ours: async () => {
          const { answers, perSecond } = await load(service.url);
          served += answers;
          cutOff += connections;
          return perSecond;
        },
        bare: async () => (await load(bare.url)).perSecond,
      });
    } finally {
      await bare.stop();
    }
  } finally {
    await service.stop();
  }
  const recorded = await countServings(database);
  if (recorded < served || recorded > served + cutOff)
    throw new Error(`${served} answers were received, but the ledger holds ${recorded}`);
});
