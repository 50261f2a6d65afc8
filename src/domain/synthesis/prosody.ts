import {
  normalProsody,
  type Prosody,
  type ProsodyParameter,
  prosodyParameters,
  type SystemVoice,
} from "./speech.ts";

const max: Prosody = { pitch: 2, rate: 2, volume: 1 };

/**
 * Factors are rounded to this many steps per unit. The steps are finer than audible differences,
 * and remove floating-point noise from recipes.
 */
const steps = 10_000;

/**
 * The prosody for the engine: the request's prosody times the voice's own factors, clamped to the
 * limits of a request.
 */
export const effectiveProsody = (
  request: { readonly [K in ProsodyParameter]?: number | null | undefined },
  systemVoice: Pick<SystemVoice, ProsodyParameter>,
): Prosody => {
  const factor = (parameter: ProsodyParameter): number => {
    const product = (request[parameter] ?? normalProsody[parameter]) * (systemVoice[parameter] ?? 1);
    return Math.round(Math.min(Math.max(product, 0), max[parameter]) * steps) / steps;
  };
  return { pitch: factor("pitch"), rate: factor("rate"), volume: factor("volume") };
};

/** The header's value: the parameters in their stable order, comma-separated; empty for none. */
export const formatProsodyParameters = (applied: readonly ProsodyParameter[]): string =>
  prosodyParameters.filter((parameter) => applied.includes(parameter)).join(",");
