import { exp } from "../elementary.ts";
import {
  normalProsody,
  type Prosody,
  type ProsodyParameter,
  prosodyParameters,
} from "../synthesis/speech.ts";

type Attributes = Readonly<Record<string, string>>;

/** The words of SSML for each prosody parameter, as factors. */
const words: Readonly<Record<ProsodyParameter, Readonly<Record<string, number>>>> = {
  rate: { "x-slow": 0.5, slow: 0.8, fast: 1.25, "x-fast": 1.6 },
  pitch: { "x-low": 0.7, low: 0.85, high: 1.15, "x-high": 1.3 },
  volume: { silent: 0, "x-soft": 0.25, soft: 0.5, loud: 1.4, "x-loud": 2 },
};

/** The factors within which a voice is still understood. */
const limits: Readonly<Record<ProsodyParameter, readonly [least: number, most: number]>> = {
  rate: [0.2, 3],
  pitch: [0.5, 2],
  volume: [0, 2],
};

/**
 * The factors of a `<prosody>` inside others. Frequencies in Hz have no effect: only the voice
 * knows its own.
 */
export const withProsody = (outer: Prosody, attributes: Attributes): Prosody => {
  const factor = (parameter: ProsodyParameter): number => {
    const value = attributes[parameter];
    if (value === undefined) return outer[parameter];
    const [least, most] = limits[parameter];
    return Math.min(Math.max(outer[parameter] * factorOf(parameter, value), least), most);
  };
  return { pitch: factor("pitch"), rate: factor("rate"), volume: factor("volume") };
};

const factorOf = (parameter: ProsodyParameter, value: string): number => {
  const number = Number.parseFloat(value);
  if (Number.isNaN(number)) return words[parameter][value] ?? 1;
  if (value.endsWith("dB")) return exp((Math.LN10 / 20) * number);
  if (value.endsWith("st")) return exp((Math.LN2 / 12) * number);
  if (value.endsWith("Hz")) return 1;
  if (/^[+-]/.test(value)) return 1 + number / 100;
  return parameter === "rate" && !value.endsWith("%") ? number : number / 100;
};

export const isSameProsody = (one: Prosody, other: Prosody): boolean =>
  prosodyParameters.every((parameter) => one[parameter] === other[parameter]);

/** A request's prosody with the factors of a document. */
export const timesProsody = (request: Prosody, factors: Prosody): Prosody => {
  if (factors === normalProsody) return request;
  const pitch = factors.pitch === 1 ? request.pitch : pitchOf(frequencyOf(request.pitch) * factors.pitch);
  return { pitch, rate: request.rate * factors.rate, volume: request.volume * factors.volume };
};

/** Pitch ranges from 2/3 to 5/3 of the voice's own frequency. */
const frequencyOf = (pitch: number): number => (pitch < 1 ? (2 + pitch) / 3 : 1 + (2 / 3) * (pitch - 1));

const pitchOf = (frequency: number): number => {
  const pitch = frequency < 1 ? 3 * frequency - 2 : 1 + 1.5 * (frequency - 1);
  return Math.min(Math.max(pitch, 0), 2);
};
