import { createHmac, type KeyObject } from "node:crypto";
import type { Idempotency } from "../../domain/ledger/journal/serving.ts";
import type { SynthesisRequest } from "./planner.ts";

/** A digest has this number of characters of base64url: 132 bits make collisions negligible. */
const digestLength = 22;

export type IdempotencyDigests = ReturnType<typeof createIdempotencyDigests>;

/**
 * Digests the value of an Idempotency-Key, and the parameters of the request, under a secret key.
 * The parameters contain the text: with a plain digest, a reader of the log could confirm a guess.
 */
export const createIdempotencyDigests = (namingKey: KeyObject) => ({
  idempotencyOf: (apiKey: string, value: string, request: SynthesisRequest): Idempotency => {
    const parameters = parametersOf(request);
    return {
      key: digest(apiKey, value),
      // This digests a JSON array. Names of audio are digests of JSON objects under the same key,
      // so the two never coincide.
      request: digest(namingKey, JSON.stringify([apiKey, ...parameters])),
      formerRequest: digest(apiKey, JSON.stringify(parameters)),
    };
  },
});

const digest = (key: KeyObject | string, content: string): string =>
  createHmac("sha256", key).update(content).digest("base64url").slice(0, digestLength);

const parametersOf = ({ prosody: { pitch, rate, volume }, ...request }: SynthesisRequest): unknown[] => {
  const { text, voice, lang, engine, name, gender, format, lexicons, instructions, textFormat } = request;
  const chosen = lexicons?.map(({ name, version }) => [name, version]);
  const more = [...(instructions ? [instructions] : []), ...(textFormat ? [{ textFormat }] : [])];
  return [text, voice, lang, engine, name, gender, pitch, rate, volume, format, chosen, ...more];
};
