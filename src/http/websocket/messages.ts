import { randomUUID } from "node:crypto";
import { z } from "zod";
import { Invalid } from "../../domain/errors.ts";
import { contentTypes, knobs } from "../../domain/synthesis/speech.ts";
import { parse } from "../../domain/validation.ts";
import { problem } from "../kernel/error-response.ts";

/** What is said on the socket, in both directions, beside the frames of audio. */

/** Names a synthesis on its socket, as the client wrote it. */
export const streamId = z.guid("id must be a UUID.").meta({
  description: "The synthesis on this socket: a UUID, in the case it was given in.",
  examples: ["2c11356a-1a1c-4e53-8d0a-55b3c1ab0e5e"],
});

/** As it is told of; what it holds is looked at when its id is known. */
export const synthesizeMessage = z.object({
  type: z.literal("synthesize"),
  id: streamId,
  request: z.unknown().meta({ override: { $ref: "#/components/schemas/SynthesizeRequest" } }),
});
export const cancelMessage = z.object({ type: z.literal("cancel"), id: streamId });
export const pingMessage = z.object({ type: z.literal("ping") });

export const streamStart = z.object({
  type: z.literal("stream_start"),
  id: streamId,
  contentType: z.enum(Object.values(contentTypes)),
  prosodyApplied: z.array(z.enum(knobs)).meta({ description: "Those of the knobs that are in the sound." }),
});

export const streamEnd = z.object({
  type: z.literal("stream_end"),
  id: streamId,
  totalBytes: z.int().min(0).meta({ description: "Of audio, in all frames." }),
  totalChunks: z.int().min(0).meta({ description: "Frames." }),
});

export const streamError = z.object({
  type: z.literal("error"),
  id: streamId.optional().meta({ description: "The synthesis that failed; absent when none did." }),
  message: z.string().meta({ description: "For people; its wording may change." }),
  retryable: z
    .boolean()
    .meta({ description: "Whether the same may well succeed when it is asked for again." }),
  code: z
    .string()
    .optional()
    .meta({
      description: "For programs, as in answers over HTTP; absent when an upstream provider failed.",
      examples: ["RATE_LIMIT_EXCEEDED"],
    }),
  retryAfterSeconds: z.int().optional().meta({ description: "When to ask again." }),
  errors: z
    .array(problem)
    .optional()
    .meta({ description: "With VALIDATION_ERROR: each thing that is wrong, by its place in the request." }),
});

export const pong = z.object({ type: z.literal("pong") });

export const serverMessage = z.discriminatedUnion("type", [streamStart, streamEnd, streamError, pong]);

/** Every message that there is. */
export const streamMessage = z.discriminatedUnion("type", [
  synthesizeMessage,
  cancelMessage,
  pingMessage,
  ...serverMessage.options,
]);

export type StreamError = z.infer<typeof streamError>;
export type ServerMessage = z.infer<typeof serverMessage>;

/** A client's message, as far as it is understood without looking at what is to be spoken. */
export type ClientMessage =
  | z.infer<typeof synthesizeMessage>
  | z.infer<typeof cancelMessage>
  | z.infer<typeof pingMessage>;

/** @throws {Invalid} for what is no message; its words repeat nothing of it */
export const readMessage = (data: Buffer, isBinary: boolean): ClientMessage => {
  const message = isBinary ? undefined : jsonOf(data);
  switch (parse(anyMessage, message).type) {
    case "synthesize":
      return synthesizeOf(message as object);
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

/** The form with a request of its own needs an id; the flat one, as the voices' links show it, is given one. */
const flat = z.object({ id: streamId.optional() });

const synthesizeOf = (message: object): ClientMessage => {
  if ("request" in message) return parse(synthesizeMessage, message);
  const { id = randomUUID() } = parse(flat, message);
  return { type: "synthesize", id, request: message };
};

const jsonOf = (data: Buffer): unknown => {
  try {
    return JSON.parse(data.toString());
  } catch {
    throw new Invalid([{ path: [], message: "A message is a JSON object in a text frame." }]);
  }
};
