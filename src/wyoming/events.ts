import { z } from "zod";
import { formats } from "../domain/synthesis/formats.ts";
import { parse } from "../domain/validation.ts";
import { presentError } from "../http/kernel/errors/error-codes.ts";

/**
 * An event as it arrived. Payloads are not kept: no event that a speech server understands has one.
 */
export interface ReceivedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * The bytes of an event: a line of JSON, then the data as JSON, then the payload
 * (https://github.com/OHF-Voice/wyoming#format).
 */
export const encodeEvent = (type: string, data: object = {}, payload: Buffer = empty): Buffer => {
  const json = Buffer.from(JSON.stringify(data));
  const header = { type, data_length: json.length, payload_length: payload.length };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), json, payload]);
};

const empty = Buffer.alloc(0);

/** Piper writes `en_GB`. */
const language = z
  .string()
  .regex(/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,7}$/, "language must be a BCP-47 code.")
  .transform((code) => code.replaceAll("_", "-"));

/**
 * A voice's name takes precedence over a language. No voice has speakers, so `speaker` is ignored.
 */
const voice = z
  .object({ name: z.string().min(1).max(100).nullish(), language: language.nullish() })
  .nullish();

const text = z.string().refine((text) => text.isWellFormed(), "text contains a lone surrogate.");

const clientEvents = {
  describe: z.object({}),
  ping: z.object({ text: z.string().nullish() }),
  synthesize: z.object({ text, voice }),
  "synthesize-start": z.object({ voice }),
  "synthesize-chunk": z.object({ text }),
  "synthesize-stop": z.object({}),
} as const;

type ClientEvents = {
  [Type in keyof typeof clientEvents]: { readonly type: Type } & z.output<(typeof clientEvents)[Type]>;
};

/** An event that the server understands. */
export type ClientEvent = ClientEvents[keyof ClientEvents];

/** The voice of a `synthesize` or `synthesize-start` event. */
export type RequestedVoice = z.output<typeof voice>;

/**
 * Returns undefined for an event of an unknown type, which servers ignore.
 * @throws {Invalid}
 */
export const parseEvent = ({ type, data }: ReceivedEvent): ClientEvent | undefined => {
  if (!Object.hasOwn(clientEvents, type)) return undefined;
  const known = type as keyof typeof clientEvents;
  return { type: known, ...parse<object>(clientEvents[known], data) } as ClientEvent;
};

/** 16-bit samples, mono. */
const audioFormat = { rate: formats.pcm.sampleRate, width: 2, channels: 1 };
export const bytesPerSample = audioFormat.width;

export const audioStart = (): Buffer => encodeEvent("audio-start", audioFormat);
/** `samples` must end with a whole sample. */
export const audioChunk = (samples: Buffer): Buffer => encodeEvent("audio-chunk", audioFormat, samples);
export const audioStop = (): Buffer => encodeEvent("audio-stop");
export const synthesizeStopped = (): Buffer => encodeEvent("synthesize-stopped");
export const pong = (text: string | null | undefined): Buffer => encodeEvent("pong", { text: text ?? null });

/** The error with the same text and code as over HTTP. */
export const errorEvent = (error: unknown): Buffer => {
  const { message, code } = presentError(error).body.error;
  return encodeEvent("error", { text: message, code: code ?? null });
};
