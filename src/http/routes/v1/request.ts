import { z } from "zod";
import type { SynthesisRequest } from "../../../application/synthesis/synthesis.ts";
import { parse } from "../../kernel/validation.ts";
import { queryValues, type RequestSchema } from "../synthesis/request.ts";

/** v1 counts pitch and rate from 0 to 1. */
const normal = 0.5;
const knob = z.number().min(0).max(1).default(normal);

/**
 * What `/v1/text:synthesize` takes: v2's fields without `voice` and `format`, which v1 never had, so that `lang` is
 * always required.
 */
export const legacyRequest = (schema: RequestSchema) => {
  const { text, lang, engine, name, gender, volume } = schema.shape;
  return z.object({
    text,
    lang: lang.unwrap().meta({ description: "BCP-47 language code." }),
    engine,
    name,
    gender,
    pitch: knob.meta({ description: "0 to 1, 0.5 is normal: half of what v2 calls it." }),
    rate: knob.meta({ description: "0 to 1, 0.5 is normal: half of what v2 calls it." }),
    volume,
  });
};

export type LegacyRequestSchema = ReturnType<typeof legacyRequest>;

/** The v2 request that a v1 query stands for. @throws {Invalid} */
export const requestFromLegacyQuery = (schema: LegacyRequestSchema, query: string): SynthesisRequest => {
  const values = queryValues(query, Object.keys(schema.shape));
  const { pitch, rate, volume, ...rest } = parse(schema, values);
  return { ...rest, prosody: { pitch: pitch / normal, rate: rate / normal, volume } };
};
