import type { Problem } from "../errors.ts";
import { type Knob, parseKnobs } from "../prosody.ts";
import type { SynthesisQuery } from "./transport.ts";

/** What is said to the service over a WebSocket; a synthesis is known by a UUID. */
export type ClientMessage =
  | { readonly type: "synthesize"; readonly id: string; readonly request: SynthesisQuery }
  | { readonly type: "cancel"; readonly id: string };

/** What the service says of one synthesis. */
export type StreamMessage =
  | {
      readonly type: "stream_start";
      readonly id: string;
      readonly contentType: string;
      readonly prosodyApplied: readonly Knob[];
    }
  | {
      readonly type: "audio";
      readonly id: string;
      /** Counted from 0, without gaps. */
      readonly chunkIndex: number;
      readonly data: Uint8Array<ArrayBuffer>;
    }
  | {
      readonly type: "stream_end";
      readonly id: string;
      readonly totalBytes: number;
      readonly totalChunks: number;
    }
  | ({ readonly type: "error"; readonly id: string } & ErrorMessage);

/** What the service says of the connection itself. */
export type ConnectionMessage = { readonly type: "error"; readonly id?: undefined } & ErrorMessage;

export interface ErrorMessage {
  readonly message: string;
  readonly retryable: boolean;
  readonly code?: string;
  readonly retryAfterSeconds?: number;
  readonly errors?: readonly Problem[];
}

/** Reads a message; undefined for one of a kind that is not known here. */
export const readMessage = (data: unknown): StreamMessage | ConnectionMessage | undefined => {
  if (data instanceof ArrayBuffer) return readFrame(data);
  const message = parsed(data);
  switch (message?.type) {
    case "stream_start":
      return { ...message, prosodyApplied: parseKnobs(message.prosodyApplied ?? []) };
    case "stream_end":
    case "error":
      return message;
    default:
      return undefined;
  }
};

const parsed = (data: unknown): StreamMessage | ConnectionMessage | undefined => {
  try {
    return JSON.parse(String(data));
  } catch {
    return undefined;
  }
};

/** A binary frame: 0x01, the id as 36 ASCII bytes, the index as uint32 big-endian, the audio. */
const audioFrame = 0x01;
const idBytes = 36;
const headerBytes = 1 + idBytes + 4;

const readFrame = (frame: ArrayBuffer): StreamMessage | undefined => {
  if (frame.byteLength < headerBytes) return undefined;
  const view = new DataView(frame);
  if (view.getUint8(0) !== audioFrame) return undefined;
  return {
    type: "audio",
    id: String.fromCharCode(...new Uint8Array(frame, 1, idBytes)),
    chunkIndex: view.getUint32(1 + idBytes),
    data: new Uint8Array(frame, headerBytes),
  };
};

/** A random UUID. `crypto.randomUUID` is kept from pages that came without TLS. */
export const randomId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};
