import type { JournalEvent } from "../../src/domain/ledger/journal/journal.ts";
import type { Serving, StreamEnd, VoidedServing } from "../../src/domain/ledger/journal/serving.ts";
import { ServingColumns } from "../../src/domain/ledger/journal/serving-columns.ts";
import { serving, voided } from "./servings.ts";

export const synthesesServed = (
  at: string,
  servings: readonly Partial<Serving>[],
  previous: string | null = null,
): Extract<JournalEvent, { type: "SynthesesServed" }> => {
  const columns = new ServingColumns();
  for (const members of servings) columns.add(serving(members), Number.POSITIVE_INFINITY);
  return { type: "SynthesesServed", data: columns.build({ at, previous }) };
};

export const servingsVoided = (
  at: string,
  servings: readonly Partial<VoidedServing>[],
  previous: string | null = null,
): Extract<JournalEvent, { type: "ServingsVoided" }> => ({
  type: "ServingsVoided",
  data: {
    servings: servings.map((members) => ({ ...voided(serving(members), at), ...members })),
    at,
    previous,
  },
});

export const streamsEnded = (
  at: string,
  apiKeys: readonly string[],
  previous: string | null = null,
): Extract<JournalEvent, { type: "StreamsEnded" }> => ({
  type: "StreamsEnded",
  data: { streams: apiKeys.map(streamEnd), at, previous },
});

const streamEnd = (apiKey: string): StreamEnd => ({
  apiKey,
  requestId: "r-1",
  hash: "ab".repeat(32),
  outcome: "whole",
  bytes: 1_000,
  chunks: 2,
});
