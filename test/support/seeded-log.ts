import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ActingKey } from "../../src/application/access/principal.ts";
import { hashSecret } from "../../src/application/access/secrets.ts";
import { systemTime } from "../../src/async/time.ts";
import { keyStream } from "../../src/domain/accounts/key.ts";
import type { Plan } from "../../src/domain/accounts/plan.ts";
import { websiteStream } from "../../src/domain/accounts/website.ts";
import { eventDigest } from "../../src/domain/ledger/journal/canonical.ts";
import { journalStream } from "../../src/domain/ledger/journal/journal.ts";
import type { AudioSource } from "../../src/domain/ledger/journal/serving.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore, ExpectedRevision, NewEvent } from "../../src/eventstore/event-store.ts";
import { openSqliteEventStore } from "../../src/eventstore/sqlite/sqlite-event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";
import { postOnBehalf } from "../../src/ledger/accounts/post-on-behalf.ts";
import { closeJournal } from "../../src/ledger/journal/close-journal.ts";
import { createJournalRegistry } from "../../src/ledger/journal/journal-registry.ts";
import type { NewServing } from "../../src/ledger/ledger.ts";
import type { OpenLedger } from "../../src/ledger/open-ledger.ts";
import { synthesesServed } from "./build-journal-events.ts";
import { testPrincipal } from "./principal.ts";
import { openTestLedger } from "./test-ledger.ts";

export interface SeededLog {
  readonly keys: readonly ActingKey[];
  readonly servings: number;
}

/** The website of the first key has this name: markup must stay text. */
export const markupName = `<img src=x onerror="document.title='run'"> & <b>Sons</b>`;

const dayMs = 86_400_000;
const days = 25;

const unlimited: Plan = { tier: "enterprise", requestsPerMinute: 1_000_000, monthlyCharacters: null };
const limited: Plan = { tier: "enterprise", requestsPerMinute: 1_000, monthlyCharacters: 400_000 };

/**
 * Writes websites with a key each, and servings of the last 25 days, into the embedded event log of
 * a data directory. By default the real ledger records the servings, many in an event.
 */
export const writeSeededLog = async (
  dataDir: string,
  {
    keys,
    servings,
    eachInOwnEvent = false,
  }: {
    readonly keys: number;
    readonly servings: number;
    /** Writes each serving as an event, as if no two requests were ever concurrent. */
    readonly eachInOwnEvent?: boolean;
  },
): Promise<SeededLog> => {
  const store = await openSqliteEventStore({ path: join(dataDir, "events.db") });
  const begin = Date.now() - (days - 1) * dayMs;
  const issued: ActingKey[] = [];
  const atOnce = 200;
  for (let first = 0; first < keys; first += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, keys - first) }, (_, index) => first + index);
    issued.push(...(await Promise.all(numbers.map((number) => issueKey(store, number, begin)))));
  }
  const write = eachInOwnEvent ? appendServings : recordServings;
  if (servings > 0) await write(store, issued, servings, begin);
  await store.close();
  return { keys: issued, servings };
};

const issueKey = async (store: EventStore, number: number, begin: number): Promise<ActingKey> => {
  const name = String(number).padStart(24, "0");
  const [apiKey, websiteId] = [`vlk_${name}`, `web_${name}`];
  const plan = number % 5 === 1 ? limited : unlimited;
  const at = new Date(begin - dayMs).toISOString();
  const origins = number % 3 === 0 ? [`https://shop-${number}.example`] : [];
  const website = { websiteId, name: number === 0 ? markupName : `shop-${number}.example`, origins, at };
  const events = [
    eventOf("KeyIssued", { apiKey, websiteId, plan, at }),
    eventOf("SecretCreated", { secretId: `sec_${name}`, hash: hashSecret(`vls_${name}`), at }),
    ...(number % 50 === 7
      ? [
          eventOf("KeySuspended", {
            cause: "operator",
            reason: "invoice overdue",
            at: new Date(begin).toISOString(),
          }),
        ]
      : []),
  ];
  await Promise.all([
    store.append(websiteStream(websiteId), [eventOf("WebsiteRegistered", website)], "none"),
    store.append(keyStream(apiKey), events, "none"),
  ]);
  return testPrincipal({ apiKey, websiteId, plan });
};

const eventOf = (type: string, data: object): NewEvent => ({
  id: uuidv7(Date.now()),
  type,
  data,
  metadata: { actor: "admin:alice" },
});

/** Records through the real ledger, day by day. */
const recordServings = async (
  store: EventStore,
  keys: readonly ActingKey[],
  servings: number,
  begin: number,
): Promise<void> => {
  const time = { now: begin };
  const opened = await openTestLedger(store, () => time.now);
  const perDay = Math.ceil(servings / days);
  for (let day = 0; day < days; day++) {
    time.now = Math.min(begin + day * dayMs, Date.now());
    const count = Math.min(perDay, servings - day * perDay);
    for (let first = 0; first < count; first += 2_000) {
      const numbers = Array.from(
        { length: Math.min(2_000, count - first) },
        (_, index) => day * perDay + first + index,
      );
      await Promise.all(numbers.map((number) => recordOne(opened, keys, number)));
    }
  }
  await opened.close(60_000);
};

/** Appends a posted journal for each day, with an event for each serving. */
const appendServings = async (
  store: EventStore,
  keys: readonly ActingKey[],
  servings: number,
  begin: number,
): Promise<void> => {
  const registry = createJournalRegistry(createCommandHandler({ store }), Date.now);
  const perDay = Math.ceil(servings / days);
  for (let day = 0; day < days; day++) {
    const [journal, end] = [randomUUID(), begin + day * dayMs];
    await registry.open(journal);
    const numbers = Array.from(
      { length: Math.min(perDay, servings - day * perDay) },
      (_, index) => day * perDay + index,
    );
    let [previous, revision]: [string | null, ExpectedRevision] = [null, "none"];
    for (let first = 0; first < numbers.length; first += 500) {
      const events = numbers.slice(first, first + 500).map((number, index) => {
        const at = new Date(end - dayMs / 2 + ((first + index) * dayMs) / 2 / perDay).toISOString();
        const serving = { apiKey: keyOf(keys, number)?.apiKey ?? "", ...servingOf(number) };
        const event = synthesesServed(at, [serving], previous);
        previous = eventDigest(event);
        return { id: uuidv7(Date.now()), metadata: { actor: "system" }, ...event };
      });
      ({ revision } = await store.append(journalStream(journal), events, revision));
    }
    const closedRevision = await closeJournal(store, () => end, journal, "shutdown");
    const posting = { store, journal, clock: () => end, time: systemTime, onError: () => {} };
    await postOnBehalf(posting, closedRevision);
    await registry.forget(journal);
  }
};

const sources: readonly AudioSource[] = ["miss", "memory", "memory", "store", "coalesced"];
const voices = ["UK English Female", "US English Male", "Deutsch Female"];

/** A busy website has many more requests than a quiet one. */
const keyOf = (keys: readonly ActingKey[], number: number): ActingKey | undefined => {
  const share = ((number * 7_919) % 1_000) / 1_000;
  return keys[Math.floor(share * share * keys.length)] ?? keys[0];
};

const servingOf = (number: number): NewServing => ({
  requestId: `request-${number}`,
  hash: createHash("sha256")
    .update(String(number % 997))
    .digest("hex"),
  characters: 20 + (number % 180),
  engine: (["g1", "g1", "g2", "g3"] as const)[number % 4] ?? "g1",
  voice: voices[number % voices.length] ?? "",
  lang: "en-GB",
  format: "mp3",
  cached: sources[number % sources.length] ?? "miss",
});

const recordOne = (opened: OpenLedger, keys: readonly ActingKey[], number: number): Promise<void> => {
  const key = keyOf(keys, number);
  if (!key) return Promise.resolve();
  return new Promise((resolve, reject) =>
    opened.ledger.record(key, servingOf(number), (error) =>
      error && error.constructor.name !== "KeyIsSuspended" ? reject(error) : resolve(),
    ),
  );
};
