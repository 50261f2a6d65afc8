import { randomUUID } from "node:crypto";
import { z } from "zod";
import { Invalid } from "../../domain/errors.ts";
import { formats, type MimeType, v2Formats } from "../../domain/synthesis/formats.ts";
import { prosodyParameters } from "../../domain/synthesis/speech.ts";
import { parse } from "../../domain/validation.ts";
import { problem } from "../kernel/errors/error-response.ts";
import { namedSchema } from "../kernel/named-schema.ts";

/** Identifies a synthesis on its socket. */
export const streamId = z.guid("id must be a UUID.").meta({
  description: "The id of the synthesis on this socket: a UUID, returned exactly as the client wrote it.",
  examples: ["2c11356a-1a1c-4e53-8d0a-55b3c1ab0e5e"],
});

/** `request` is validated separately, so that its errors can carry the id. */
const synthesizeMessage = namedSchema("SynthesizeMessage", {
  type: z.literal("synthesize"),
  id: streamId,
  request: z.unknown().meta({ override: { $ref: "#/components/schemas/SynthesizeRequest" } }),
});
const cancelMessage = namedSchema("CancelMessage", { type: z.literal("cancel"), id: streamId });
const pingMessage = namedSchema("PingMessage", { type: z.literal("ping") });

const streamStart = namedSchema("StreamStartMessage", {
  type: z.literal("stream_start"),
  id: streamId,
  contentType: z.enum(v2Formats.map((format): MimeType => formats[format].mimeType)),
  prosodyApplied: z
    .array(z.enum(prosodyParameters))
    .meta({ description: "The prosody parameters that the engine applied." }),
});

export const streamEnd = namedSchema("StreamEndMessage", {
  type: z.literal("stream_end"),
  id: streamId,
  totalBytes: z.int().min(0).meta({ description: "The length of the audio in all frames." }),
  totalChunks: z.int().min(0).meta({ description: "The number of frames." }),
});

export const streamError = namedSchema("StreamErrorMessage", {
  type: z.literal("error"),
  id: streamId
    .optional()
    .meta({ description: "The synthesis that failed; absent if the error concerns no synthesis." }),
  message: z.string().meta({ description: "For humans; its wording may change." }),
  retryable: z.boolean().meta({ description: "Whether a retry may succeed." }),
  code: z
    .string()
    .optional()
    .meta({
      description: "The same error code as over HTTP; absent if a speech provider failed.",
      examples: ["RATE_LIMIT_EXCEEDED"],
    }),
  retryAfterSeconds: z.int().optional().meta({ description: "The delay before a retry." }),
  errors: z
    .array(problem)
    .optional()
    .meta({ description: "With VALIDATION_ERROR: the invalid members of the request." }),
});

export const pong = namedSchema("PongMessage", { type: z.literal("pong") });

export const serverMessage = z.discriminatedUnion("type", [streamStart, streamEnd, streamError, pong]);

/** All messages in both directions. */
export const streamMessage = z
  .discriminatedUnion("type", [synthesizeMessage, cancelMessage, pingMessage, ...serverMessage.options])
  .meta({ id: "StreamMessage" });

export type StreamError = z.infer<typeof streamError>;
export type ServerMessage = z.infer<typeof serverMessage>;

/** A client's message whose synthesis request has not been validated yet. */
export type ClientMessage =
  | z.infer<typeof synthesizeMessage>
  | z.infer<typeof cancelMessage>
  | z.infer<typeof pingMessage>;

/** @throws {Invalid} without quoting the message */
export const parseMessage = (data: Buffer, isBinary: boolean): ClientMessage => {
  const message = isBinary ? undefined : parseJson(data);
  switch (parse(anyMessage, message).type) {
    case "synthesize":
      return parseSynthesize(message as object);
    case "cancel":
      return parse(cancelMessage, message);
    case "ping":
      return { type: "ping" };
  }
};

const anyMessage = z.object(
  { type: z.enum(["synthesize", "cancel", "ping"]) },
  { error: "A message is a JSON object in a text frame." },
);

/** The flat form of the voices' links: its `id` is optional. */
const flatMessage = z.object({ id: streamId.optional() });

const parseSynthesize = (message: object): ClientMessage => {
  if ("request" in message) return parse(synthesizeMessage, message);
  const { id = randomUUID() } = parse(flatMessage, message);
  return { type: "synthesize", id, request: message };
};

const parseJson = (data: Buffer): unknown => {
  try {
    return JSON.parse(data.toString());
  } catch {
    throw new Invalid([{ path: [], message: "A message is a JSON object in a text frame." }]);
  }
};

/**
 * A frame of audio: 0x01, the id as 36 ASCII bytes, the index from 0 as uint32 big-endian, the
 * audio.
 */
const audioFrameType = 0x01;
const idOffset = 1;
const indexOffset = 37;
const audioOffset = 41;

/** Streams that share a socket take turns after each frame. */
const maxFrameBytes = 64 * 1024;

export const audioFrame = (id: string, index: number, audio: Buffer): Buffer => {
  const frame = Buffer.allocUnsafe(audioOffset + audio.length);
  frame[0] = audioFrameType;
  frame.write(id, idOffset, "latin1");
  frame.writeUInt32BE(index, indexOffset);
  frame.set(audio, audioOffset);
  return frame;
};

/** Splits a chunk into the payloads of frames, without copying. */
export function* framePayloads(chunk: Buffer): Generator<Buffer> {
  const maxBytes = maxFrameBytes - audioOffset;
  for (let at = 0; at < chunk.length; at += maxBytes) yield chunk.subarray(at, at + maxBytes);
}
