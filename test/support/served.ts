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

/** What one key was served in November 2026, with voices that are also names of things in JavaScript. */
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

/** The events as the key's stream of that month holds them. */
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
