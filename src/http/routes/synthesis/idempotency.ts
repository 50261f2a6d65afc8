import { createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { SynthesisRequest } from "../../../application/synthesis/synthesis.ts";
import { Invalid } from "../../../domain/errors.ts";
import type { Idempotency } from "../../../domain/usage/usage.ts";

/** 1 to 255 printable ASCII characters. */
export const idempotencyKey = /^[\x20-\x7e]{1,255}$/;

/** 132 bits: long enough that keys and requests do not collide. */
const digestLength = 22;

/**
 * The digests of the request's Idempotency-Key, if it has one, and of what it asks for. The method does not matter: a GET
 * repeats a POST of the same parameters.
 * @throws {Invalid} for a key that is empty, too long, or not printable ASCII
 */
export const idempotencyOf = (
  { "idempotency-key": given }: IncomingHttpHeaders,
  apiKey: string,
  { text, voice, lang, engine, name, gender, prosody, format }: SynthesisRequest,
): Idempotency | undefined => {
  if (given === undefined) return undefined;
  if (typeof given !== "string" || !idempotencyKey.test(given)) throw malformed;
  const { pitch, rate, volume } = prosody;
  const digest = (content: string): string =>
    createHmac("sha256", apiKey).update(content).digest("base64url").slice(0, digestLength);
  return {
    key: digest(given),
    request: digest(JSON.stringify([text, voice, lang, engine, name, gender, pitch, rate, volume, format])),
  };
};

const malformed = new Invalid([
  { path: ["Idempotency-Key"], message: "must be 1 to 255 printable ASCII characters." },
]);
