import fc from "fast-check";
import { engineCodes } from "../../src/domain/synthesis/speech.ts";
import { monthOf, type SynthesisServed, usageStream } from "../../src/domain/usage/usage.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";

export const served = (changes: Partial<SynthesisServed> = {}): SynthesisServed => ({
  requestId: "r-1",
  hash: "ab".repeat(32),
  characters: 11,
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "miss",
  at: "2026-11-05T10:00:00.000Z",
  ...changes,
});

/** The usage of one key in November 2026, with voices named like JavaScript object members. */
export const servedInNovember = (): fc.Arbitrary<SynthesisServed> =>
  fc
    .record({
      characters: fc.nat(4000),
      engine: fc.constantFrom(...engineCodes),
      voice: fc.oneof(fc.constantFrom("UK English Female", "__proto__", "constructor", "a b c"), fc.string()),
      at: fc
        .date({
          min: new Date("2026-11-01T00:00:00Z"),
          max: new Date("2026-11-30T23:59:59.999Z"),
          noInvalidDate: true,
        })
        .map((date) => date.toISOString()),
    })
    .map(served);

/** The events in the key's stream of that month. */
export const recorded = (apiKey: string, events: readonly SynthesisServed[]): RecordedEvent[] =>
  events.map((data, revision) => ({
    id: `id-${revision}`,
    type: "SynthesisServed",
    stream: usageStream(apiKey, monthOf(data.at)),
    revision,
    position: revision + 1,
    created: 0,
    data,
    metadata: {},
  }));
