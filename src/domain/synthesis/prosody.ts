import { type Knob, knobs, normalProsody, type Prosody, type SystemVoice } from "./speech.ts";

const most: Prosody = { pitch: 2, rate: 2, volume: 1 };

/** Finer than audible differences; removes floating-point noise from recipes. */
const steps = 10_000;

/**
 * The prosody for the engine: the request's prosody times the voice's own factors, clamped to the
 * limits of a request.
 */
export const effectiveProsody = (
  request: { readonly [K in Knob]?: number | null | undefined },
  systemVoice: Pick<SystemVoice, Knob>,
): Prosody => {
  const factor = (knob: Knob): number => {
    const product = (request[knob] ?? normalProsody[knob]) * (systemVoice[knob] ?? 1);
    return Math.round(Math.min(Math.max(product, 0), most[knob]) * steps) / steps;
  };
  return { pitch: factor("pitch"), rate: factor("rate"), volume: factor("volume") };
};

/** The header's value: the parameters in their stable order, comma-separated; empty for none. */
export const formatKnobs = (applied: readonly Knob[]): string =>
  knobs.filter((knob) => applied.includes(knob)).join(",");
