import { z } from "zod";
import type { SynthesisRequest } from "../../../application/synthesis/planner.ts";
import { parse } from "../../../domain/validation.ts";
import { queryValues } from "../query-values.ts";
import type { RequestSchema } from "./request.ts";

const deprecatedAt = new Date("2026-01-01T00:00:00Z");
const sunset = new Date("2027-12-31T23:59:59Z");

/** The headers that announce the end of v1. */
export const deprecationHeaders = (publicUrl: string | undefined) => ({
  Deprecation: `@${deprecatedAt.getTime() / 1_000}`, // RFC 9745
  Sunset: sunset.toUTCString(), // RFC 8594
  Link: `<${publicUrl ?? ""}/v2/text/synthesize>; rel="successor-version"`,
});

/** In v1, pitch and rate range from 0 to 1. */
const normal = 0.5;
const pitchOrRate = z.number().min(0).max(1).default(normal).meta({
  description: "0 to 1, where 0.5 is normal: half of the value in v2.",
});

/**
 * v2's parameters without `voice` and `format`, which v1 does not have; so `lang` is always
 * required.
 */
export const legacyRequest = (schema: RequestSchema) => {
  const { text, text_format, lang, engine, name, gender, volume } = schema.shape;
  return z.object({
    text,
    text_format,
    lang: lang.unwrap().meta({ description: "BCP-47 language code." }),
    engine,
    name,
    gender,
    pitch: pitchOrRate,
    rate: pitchOrRate,
    volume,
  });
};

/**
 * Converts a v1 query to a v2 request.
 * @throws {Invalid}
 */
export const requestFromLegacyQuery = (
  schema: ReturnType<typeof legacyRequest>,
  query: string,
): SynthesisRequest => {
  const values = queryValues(query, Object.keys(schema.shape));
  const { text_format: textFormat, pitch, rate, volume, ...rest } = parse(schema, values);
  return { ...rest, textFormat, prosody: { pitch: pitch / normal, rate: rate / normal, volume } };
};
