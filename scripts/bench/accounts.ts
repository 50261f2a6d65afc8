import { type UsagePosted, usageAccountStream } from "../../src/domain/ledger/accounts/usage-account.ts";
import { postingId } from "../../src/domain/ledger/accounts/usage-event-ids.ts";
import { addEntries, postedTotals, UsageSum } from "../../src/domain/ledger/accounts/usage-sum.ts";
import { eventDigest } from "../../src/domain/ledger/journal/canonical.ts";
import { type JournalEvent, journalStream } from "../../src/domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../src/domain/ledger/journal/journal-registry.ts";
import { ServingColumns } from "../../src/domain/ledger/journal/serving-columns.ts";
import type { EventStore, NewEvent } from "../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../src/eventstore/uuid.ts";

export const month = "2026-10";
export const busyKey = "vlk_busy";
const journal = "bench";
const [perEvent, perPosting] = [100, 1_000];
const appendsAtOnce = 8;
const monthStart = Date.parse(`${month}-01T00:00:00.000Z`);
const monthMs = 31 * 24 * 60 * 60_000;

export const otherKeys = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `vlk_${String(n).padStart(6, "0")}`);

/**
 * Writes an open journal with the servings of the busy key, its postings (except the last), and a
 * posting for each of the other keys. Resolves with a time and a position in the middle of a
 * posting.
 */
export const writeAccounts = async (store: EventStore, servings: number, keys: number) => {
  const listed = { journal, open: [journal], at: timeOf(0) };
  await store.append(journalRegistryStream, [eventOf("JournalOpened", listed)], "none");
  const others = otherKeys(keys - 1).values();
  await Promise.all(Array.from({ length: appendsAtOnce }, () => postEach(store, others)));
  const postings = Math.floor(servings / perPosting);
  let previous: string | null = null;
  let balance = { requests: 0, characters: 0 };
  let middle = { middle: 0, position: 0 };
  for (let posting = 0; posting < postings; posting++) {
    const events: JournalEvent[] = [];
    for (let n = 0; n < perPosting / perEvent; n++) {
      const event = servingsAt(timeOf((posting + (n * perEvent) / perPosting) / postings), previous);
      previous = eventDigest(event);
      events.push(event);
    }
    const newEvents = events.map(({ type, data }) => eventOf(type, data));
    const { revision, position } = await store.append(journalStream(journal), newEvents, "any");
    if (posting === Math.floor(postings / 2)) {
      const time = Date.parse(events[events.length / 2]?.data.at ?? "");
      middle = { middle: time, position: position - events.length / 2 };
    }
    if (posting === postings - 1) break;
    const sum = new UsageSum();
    for (const event of events) addEntries(event, () => sum);
    const from = revision - events.length + 1;
    const range = { journal, from, through: revision, ranges: [from, revision], digest: previous ?? "" };
    const totals = postedTotals(sum);
    balance = {
      requests: balance.requests + totals.requests,
      characters: balance.characters + totals.characters,
    };
    await post(store, busyKey, { ...range, ...totals, balance, at: totals.until });
    if (posting < postings - 2) continue;
    const mark: JournalEvent = {
      type: "JournalPosted",
      data: { through: revision, at: totals.until, previous },
    };
    previous = eventDigest(mark);
    await store.append(journalStream(journal), [eventOf(mark.type, mark.data)], revision);
  }
  return middle;
};

const postEach = async (store: EventStore, apiKeys: Iterator<string>): Promise<void> => {
  const sum = new UsageSum();
  addEntries(servingsAt(timeOf(0), null), () => sum);
  const totals = postedTotals(sum);
  for (let next = apiKeys.next(); !next.done; next = apiKeys.next()) {
    const range = { journal: "earlier", from: 0, through: 9, ranges: [0, 9], digest: "0".repeat(64) };
    await post(store, next.value, { ...range, ...totals, balance: totals, at: totals.until });
  }
};

const post = async (store: EventStore, apiKey: string, data: UsagePosted): Promise<void> => {
  const id = postingId(data.journal, apiKey, month, data.through);
  const event = { id, type: "UsagePosted", data, metadata: { actor: "system" } };
  await store.append(usageAccountStream(apiKey, month), [event], "any");
};

/** An event with servings of the busy key by some voices of two engines. */
const servingsAt = (at: string, previous: string | null): JournalEvent => {
  const columns = new ServingColumns();
  for (let n = 0; n < perEvent; n++) {
    const audio = {
      hash: "ab".repeat(32),
      engine: n % 10 === 0 ? "oai" : "g1",
      voice: `Voice ${n % 8}`,
    } as const;
    const serving = {
      apiKey: busyKey,
      requestId: uuidv7(Date.now()),
      characters: 40,
      cached: "memory",
    } as const;
    columns.add({ ...serving, ...audio, lang: "en-GB", format: "mp3" }, Number.POSITIVE_INFINITY);
  }
  return { type: "SynthesesServed", data: columns.build({ at, previous }) };
};

const timeOf = (part: number): string => new Date(monthStart + part * monthMs).toISOString();

const eventOf = (type: string, data: object): NewEvent => ({
  id: uuidv7(Date.now()),
  type,
  data,
  metadata: { actor: "system" },
});
