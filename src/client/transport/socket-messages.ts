import type { Problem } from "../api/problem.ts";
import type { SynthesisQuery } from "../api/synthesis.ts";
import { type ProsodyParameter, parseProsodyParameters } from "../prosody.ts";

/** A message to the service. `id` is a UUID that identifies the synthesis. */
export type ClientMessage =
  | { readonly type: "synthesize"; readonly id: string; readonly request: SynthesisQuery }
  | { readonly type: "cancel"; readonly id: string };

/** A message of the service about one synthesis. */
export type StreamMessage =
  | {
      readonly type: "stream_start";
      readonly id: string;
      readonly contentType: string;
      readonly prosodyApplied: readonly ProsodyParameter[];
    }
  | {
      readonly type: "audio";
      readonly id: string;
      /** Starts at 0, without gaps. */
      readonly chunkIndex: number;
      readonly data: Uint8Array<ArrayBuffer>;
    }
  | {
      readonly type: "stream_end";
      readonly id: string;
      readonly totalBytes: number;
      readonly totalChunks: number;
    }
  | (ErrorMessage & { readonly id: string });

/** An error message about the connection itself. */
type ConnectionMessage = ErrorMessage & { readonly id?: undefined };

interface ErrorMessage {
  readonly type: "error";
  readonly message: string;
  readonly retryable: boolean;
  readonly code?: string;
  readonly retryAfterSeconds?: number;
  readonly errors?: readonly Problem[];
}

/** Parses the data of a message event; undefined for an unknown type. */
export const parseMessage = (data: unknown): StreamMessage | ConnectionMessage | undefined => {
  if (data instanceof ArrayBuffer) return parseFrame(data);
  const message = parseJson(data);
  switch (message?.type) {
    case "stream_start":
      return { ...message, prosodyApplied: parseProsodyParameters(message.prosodyApplied ?? []) };
    case "stream_end":
    case "error":
      return message;
    default:
      return undefined;
  }
};

const parseJson = (data: unknown): StreamMessage | ConnectionMessage | undefined => {
  try {
    return JSON.parse(String(data));
  } catch {
    return undefined;
  }
};

/**
 * A binary frame: 0x01, the id as 36 ASCII bytes, the chunk index as uint32 big-endian, the audio.
 */
const audioFrame = 0x01;
const idBytes = 36;
const headerBytes = 1 + idBytes + 4;

const parseFrame = (frame: ArrayBuffer): StreamMessage | undefined => {
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

/** A random UUID. `crypto.randomUUID` exists in secure contexts only. */
export const randomId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};
