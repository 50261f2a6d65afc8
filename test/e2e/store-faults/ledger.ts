import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { ServingVoided, SynthesisServed } from "../../../src/domain/usage/usage.ts";
import type { RecordedEvent } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { isRefused, isServed, type Outcome } from "./steady-load.ts";

/** A response as recorded in the log. */
export interface Entry extends SynthesisServed {
  readonly apiKey: string;
  /** The serving was voided. */
  readonly voided: boolean;
}

/** All usage events at this address, read from the node without the proxy. */
export const readLedger = async (url: string): Promise<Entry[]> => {
  const store = await openEventStoreDB({ url, readOnly: true });
  const events: RecordedEvent[] = [];
  try {
    for await (const batch of store.subscribe({ prefixes: ["usage-"] })) {
      events.push(...batch.events);
      if (batch.caughtUp) break;
    }
  } finally {
    await store.close();
  }
  expectDense(events);
  const dataOf = (name: string) => events.flatMap(({ type, data }) => (type === name ? [data] : []));
  const voids = (dataOf("ServingVoided") as ServingVoided[]).filter(({ serving }) => serving);
  const voided = new Set(voids.map(({ requestId }) => requestId));
  expect(voided.size, "voided more than once").to.equal(voids.length);
  return events
    .filter(({ type }) => type === "SynthesisServed")
    .map(({ stream, data }) => ({ ...(data as SynthesisServed), apiKey: keyOf(stream) }))
    .map((entry) => ({ ...entry, voided: voided.has(entry.requestId) }));
};

/** The recorded usage as soon as no refused request is charged. Fails after 20 s. */
export const readSettledLedger = async (url: string, outcomes: readonly Outcome[]): Promise<Entry[]> => {
  const refused = new Set(outcomes.filter(isRefused).map(({ requestId }) => requestId));
  for (const end = Date.now() + 20_000; ; await delay(50)) {
    const ledger = await readLedger(url);
    const charged = ledger.filter(({ requestId, voided }) => refused.has(requestId) && !voided);
    if (charged.length === 0) return ledger;
    expect(Date.now(), `${charged.length} refused requests are charged`).to.be.below(end);
  }
};

const keyOf = (stream: string): string => stream.slice("usage-".length, -"-yyyy-mm".length);

const expectDense = (events: readonly RecordedEvent[]): void => {
  const ids = new Set(events.map(({ id }) => id));
  expect(ids.size, "events of one id").to.equal(events.length);
  const next = new Map<string, number>();
  for (const { stream, revision } of events) {
    expect(revision, `the revision in ${stream}`).to.equal(next.get(stream) ?? 0);
    next.set(stream, revision + 1);
  }
};

/** Every delivered response is in the log exactly once, with its characters. */
export const expectRecordedOnce = (outcomes: readonly Outcome[], ledger: readonly Entry[]): void => {
  const entries = Map.groupBy(ledger, ({ requestId }) => requestId);
  const twice = [...entries].filter(([, { length }]) => length > 1).map(([requestId]) => requestId);
  expect(twice, "recorded more than once").to.deep.equal([]);
  for (const { requestId, apiKey, object } of outcomes.filter(isServed)) {
    const entry = entries.get(requestId)?.[0];
    expect(entry, `served, not recorded: ${requestId}`).to.not.equal(undefined);
    expect(entry?.voided, `served and voided: ${requestId}`).to.equal(false);
    expect({ apiKey: entry?.apiKey, object: `audio/${entry?.hash}.${entry?.format}` }).to.deep.equal({
      apiKey,
      object,
    });
  }
};

/** The characters recorded for the key, without voided servings. */
export const charactersOf = (ledger: readonly Entry[], apiKey: string): number =>
  ledger.reduce((sum, entry) => sum + (entry.apiKey === apiKey && !entry.voided ? entry.characters : 0), 0);
