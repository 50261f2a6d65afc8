import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Serving } from "../../../src/domain/ledger/journal/serving.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { pollTimeoutMs } from "../../support/processes.ts";
import { readLedger } from "../../support/test-ledger.ts";
import { isRefused, isServed, type Outcome } from "./steady-load.ts";

/** A response as recorded in the log. */
export interface Entry extends Serving {
  /** The serving was voided. */
  readonly voided: boolean;
}

/** All servings at this address, read from the node without the proxy. */
export const readServings = async (url: string): Promise<Entry[]> => {
  const store = await openEventStoreDB({ url, readOnly: true });
  try {
    const { servings, voided } = await readLedger(store);
    const voids = new Set(voided.map(({ requestId }) => requestId));
    expect(voids.size, "voided more than once").to.equal(voided.length);
    return servings.map((serving) => ({ ...serving, voided: voids.has(serving.requestId) }));
  } finally {
    await store.close();
  }
};

/** The recorded usage as soon as no refused request is charged. Fails after `pollTimeoutMs`. */
export const readSettledLedger = async (url: string, outcomes: readonly Outcome[]): Promise<Entry[]> => {
  const refused = new Set(outcomes.filter(isRefused).map(({ requestId }) => requestId));
  for (const end = Date.now() + pollTimeoutMs; ; await delay(50)) {
    const ledger = await readServings(url);
    const charged = ledger.filter(({ requestId, voided }) => refused.has(requestId) && !voided);
    if (charged.length === 0) return ledger;
    expect(Date.now(), `${charged.length} refused requests are charged`).to.be.below(end);
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
