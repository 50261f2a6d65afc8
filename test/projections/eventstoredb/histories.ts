import fc from "fast-check";
import {
  addVoice,
  type CatalogEvent,
  catalogDecider,
  catalogStream,
  changeVoice,
  deprecateSystemVoice,
  deprecateVoice,
  initialCatalog,
  seedCatalog,
} from "../../../src/domain/catalog/catalog.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { rateStream } from "../../../src/domain/usage/rate.ts";
import {
  initialUsage,
  monthOf,
  recordServing,
  recordStreamEnd,
  usageStream,
} from "../../../src/domain/usage/usage.ts";
import { served } from "../../support/served.ts";
import { voidOf } from "../../support/voiding.ts";
import type { LogEvent } from "../fold-events.ts";

const at = "2026-11-21T10:00:00.000Z";
const keys = ["k1", "k-2", "__proto__", "constructor"];
const seed = releaseSeed();
const voices = seed.voices.slice(0, 8);
const behind = new Set(voices.flatMap(({ voiceIDs }) => voiceIDs));
const few = { voices, systemVoices: seed.systemVoices.filter(({ id }) => behind.has(id)) };

const changes: readonly ((name: string, flag: string, id: number) => (was: never) => CatalogEvent[])[] = [
  (name, flag) => (was) => changeVoice(was, { name, change: { flag }, at }),
  (name) => (was) => deprecateVoice(was, { name, at }),
  (_name, _flag, id) => (was) => deprecateSystemVoice(was, { id, at }),
  (name, flag, id) => (was) =>
    addVoice(was, {
      voice: { name: `${name} ${flag} ${id}`, flag, gender: "f", lang: "en-GB", voiceIDs: [id] },
      at,
    }),
];

/** Random changes to the catalog, decided by the aggregate. */
const catalogHistory = (): fc.Arbitrary<LogEvent[]> =>
  fc
    .array(
      fc.tuple(
        fc.constantFrom(...changes),
        fc.constantFrom(...few.voices.map(({ name }) => name)),
        fc.constantFrom("gb", "us", "de"),
        fc.constantFrom(...few.systemVoices.map(({ id }) => id)),
      ),
      { maxLength: 12 },
    )
    .map((commands) => {
      const events = seedCatalog(initialCatalog(), few, at);
      let catalog = events.reduce(catalogDecider.evolve, initialCatalog());
      for (const [command, ...given] of commands) {
        const decided = attempted(() => command(...given)(catalog as never));
        catalog = decided.reduce(catalogDecider.evolve, catalog);
        events.push(...decided);
      }
      return events.map((event) => ({ stream: catalogStream, ...event }));
    });

/** A refused command has no events. */
const attempted = (decide: () => CatalogEvent[]): CatalogEvent[] => {
  try {
    return decide();
  } catch {
    return [];
  }
};

const usageHistory = (): fc.Arbitrary<LogEvent[]> =>
  fc
    .array(
      fc.record({
        key: fc.constantFrom(...keys),
        characters: fc.nat(4000),
        at: fc.constantFrom("2026-10-31T23:59:59.999Z", "2026-11-01T00:00:00.000Z", at),
        isStream: fc.boolean(),
        isVoided: fc.boolean(),
      }),
      { maxLength: 20 },
    )
    .map((answers) =>
      answers.flatMap(({ key, characters, at, isStream, isVoided }) => {
        const fact = served({ characters, at });
        const { requestId, hash } = fact;
        const end = recordStreamEnd({ requestId, hash, outcome: "whole", bytes: 1, chunks: 1, at });
        const voids = voidOf(fact, at);
        const events = [
          ...recordServing(initialUsage(), fact, null),
          ...(isStream ? end : []),
          ...(isVoided ? voids : []),
        ];
        return events.map((event) => ({ stream: usageStream(key, monthOf(at)), ...event }));
      }),
    );

const rateHistory = (): fc.Arbitrary<LogEvent[]> =>
  fc.array(
    fc.record({
      stream: fc.constantFrom("i1", "i2", "i-3").map(rateStream),
      type: fc.constantFrom("RequestsCounted", "RequestsCounted", "SomethingNewer"),
      data: fc.record({
        minute: fc.integer({ min: 29_000_000, max: 29_000_005 }),
        keys: fc.constant(["k1", "k-2"]),
        counts: fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 })),
        at: fc.constant(at),
      }),
    }),
    { maxLength: 25 },
  );

const others: readonly LogEvent[] = [
  { stream: "catalog-of-somebody", type: "VoiceDeprecated", data: { name: "x", at } },
  { stream: "usage", type: "SynthesisServed", data: served() },
  { stream: "key-k1", type: "SynthesisServed", data: served() },
  { stream: "$$usage-k1-2026-11", type: "$metadata", data: { $maxAge: 180 } },
];

/** A random interleaving of the streams, each in its own order. */
export const history = (): fc.Arbitrary<LogEvent[]> =>
  fc
    .tuple(catalogHistory(), usageHistory(), rateHistory(), fc.shuffledSubarray([...others]))
    .chain((parts) =>
      fc
        .array(fc.nat(parts.length - 1), { minLength: 60, maxLength: 60 })
        .map((order) => interleaved(parts, order)),
    );

const interleaved = (parts: readonly (readonly LogEvent[])[], order: readonly number[]): LogEvent[] => {
  const left = parts.map((part) => [...part]);
  const interleaved = order.flatMap((index) => left[index]?.splice(0, 1) ?? []);
  return [...interleaved, ...left.flat()];
};
