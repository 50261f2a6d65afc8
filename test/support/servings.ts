import fc from "fast-check";
import type { Serving, VoidedServing } from "../../src/domain/ledger/journal/serving.ts";
import { engineCodes } from "../../src/domain/synthesis/speech.ts";
import { anyCharacter } from "./any-character.ts";

export const serving = (changes: Partial<Serving> = {}): Serving => ({
  apiKey: "vlk_1",
  requestId: "r-1",
  hash: "ab".repeat(32),
  characters: 11,
  engine: "g1",
  voice: "UK English Female",
  lang: "en-GB",
  format: "mp3",
  cached: "miss",
  ...changes,
});

/** The void of a serving without audio. */
export const voided = (
  { apiKey, requestId, characters, hash, engine, voice }: Serving,
  servedAt: string,
): VoidedServing => ({
  apiKey,
  requestId,
  characters,
  hash,
  engine,
  voice,
  servedAt,
  reason: "unanswered",
});

/** Servings of few keys and little audio, with voices named like JavaScript object members. */
export const anyServing = (): fc.Arbitrary<Serving> =>
  fc.record(
    {
      apiKey: fc.constantFrom("vlk_1", "vlk_2", "vlk_3"),
      requestId: fc.uuid(),
      hash: fc.constantFrom("ab".repeat(32), "cd".repeat(32)),
      characters: fc.nat(1_000_000),
      engine: fc.constantFrom(...engineCodes),
      voice: fc.oneof(
        fc.constantFrom("UK English Female", "__proto__", "a b c"),
        fc.string({ unit: anyCharacter }),
      ),
      lang: fc.constantFrom("en-GB", "de"),
      format: fc.constantFrom("mp3", "wav"),
      cached: fc.constantFrom("miss", "coalesced", "memory", "store"),
      partial: fc.constant(true as const),
      stream: fc.constantFrom("sse", "audio", "websocket", "wyoming"),
      idempotency: fc.record({ key: fc.string(), request: fc.string() }),
      repeat: fc.constant(true as const),
      failed: fc.array(fc.string(), { minLength: 1 }),
      traceparent: fc.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    },
    {
      requiredKeys: [
        "apiKey",
        "requestId",
        "hash",
        "characters",
        "engine",
        "voice",
        "lang",
        "format",
        "cached",
      ],
    },
  );
