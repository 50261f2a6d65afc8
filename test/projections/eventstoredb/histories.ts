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
import { usageAccountStream } from "../../../src/domain/ledger/accounts/usage-account.ts";
import { rateStream } from "../../../src/domain/ledger/rate.ts";
import { accountClosed, anyPostings, usagePosted } from "../../support/usage-account-events.ts";
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
        month: fc.constantFrom("2026-10", "2026-11"),
        postings: anyPostings(),
        isClosed: fc.boolean(),
      }),
      { maxLength: 4 },
    )
    .map((accounts) =>
      accounts.flatMap(({ key, month, postings, isClosed }) => {
        const closing = isClosed ? [accountClosed({ requests: 1, characters: 2 })] : [];
        return [...postings, ...closing].map((event) => ({
          stream: usageAccountStream(key, month),
          ...event,
        }));
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
  { stream: "usage", ...usagePosted() },
  { stream: "key-k1", ...usagePosted() },
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
