import { randomUUID } from "node:crypto";
import { journalStream } from "../../src/domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../src/domain/ledger/journal/journal-registry.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { synthesesServed } from "./build-journal-events.ts";

export interface LogEvent {
  readonly stream: string;
  readonly type: string;
  readonly data: object;
}

/**
 * Appends the events in order, batching consecutive events of a stream. Returns the last position.
 */
export const append = async (store: EventStore, list: readonly LogEvent[]): Promise<number> => {
  let position = 0;
  for (let start = 0; start < list.length; ) {
    const stream = list[start]?.stream ?? "";
    let end = start + 1;
    while (end < list.length && end - start < 500 && list[end]?.stream === stream) end++;
    const events = list
      .slice(start, end)
      .map(({ type, data }) => ({ id: randomUUID(), type, data, metadata: { actor: "system" } }));
    ({ position } = await store.append(stream, events, "any"));
    start = end;
  }
  return position;
};

export const issued = (apiKey: string, at = "2026-10-01T00:00:00.000Z"): LogEvent[] => [
  {
    stream: `key-${apiKey}`,
    type: "KeyIssued",
    data: {
      apiKey,
      websiteId: "w1",
      plan: { tier: "free", requestsPerMinute: 100, monthlyCharacters: 1_000_000 },
      at,
    },
  },
  {
    stream: `key-${apiKey}`,
    type: "SecretCreated",
    data: { secretId: "s1", hash: "5ec2e7".repeat(10), at },
  },
];

/**
 * Makes `count` events of a month: of a journal, two keys, a website, and rate counters. The name
 * of one key is a prefix of the other's.
 */
export const busyMonth = (count: number): LogEvent[] => {
  const list = [opened, ...issued("ab"), ...issued("abc")];
  while (list.length < count) list.push(nextOf(list.length));
  return list;
};

const opened: LogEvent = {
  stream: journalRegistryStream,
  type: "JournalOpened",
  data: { journal: "j1", open: ["j1"], at: "2026-10-01T00:00:00.000Z" },
};

const nextOf = (n: number): LogEvent => {
  const at = new Date(Date.UTC(2026, 9, 1) + n * 60_000).toISOString();
  // Runs of 50: a batch may contain many events of one stream.
  const turn = Math.floor(n / 50) % 8;
  if (turn === 0) return { stream: "website-w1", type: "WebsiteConfigured", data: { config: { n }, at } };
  if (turn === 1) return { stream: "rate-ab", type: "RequestsCounted", data: { n, at } };
  const apiKey = turn < 5 ? "ab" : "abc";
  const served = { apiKey, characters: n % 97, requestId: `r-${n}` };
  return { stream: journalStream("j1"), ...synthesesServed(at, [served]) };
};
