import type { Context } from "koa";
import type {
  CompleteDelivery,
  DeliveryContext,
  Streaming,
  StreamKind,
  SynthesisStream,
} from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import { formats, hasLengthInHeader } from "../../../domain/synthesis/formats.ts";
import { formatProsodyParameters } from "../../../domain/synthesis/prosody.ts";
import type { RenewToken } from "../../access/token-renewal.ts";
import type { HeaderNames } from "../../kernel/headers.ts";
import { sendChunks } from "../../kernel/respond.ts";
import { eventStream } from "./event-stream.ts";

export type HttpStreamKind = Exclude<StreamKind, "websocket" | "wyoming">;

/** Audio that is sent in chunks. */
export interface ChunkedAudio extends Omit<SynthesisStream, "memory"> {
  /** The size of the audio, if it is complete. */
  readonly byteLength?: number;
}

/** Writes audio into a response in the form of one API. */
export interface StreamBody {
  readonly kind: HttpStreamKind;
  /**
   * True if the client has asked for a stream: its audio is sent while it is synthesized, without a
   * length in the header of its file. If false, audio in a format whose header has a length is sent
   * when it is complete.
   */
  readonly isStream: boolean;
  /** The headers of the API, in addition to those of every stream. */
  headers(audio: ChunkedAudio): Readonly<Record<string, string>>;
  /** Reads `audio` once, and calls `delivered` for each chunk that it passes on. */
  chunks(audio: ChunkedAudio): AsyncIterable<string | Buffer>;
}

/** Sends the audio as early as the format and the body allow. */
export type StreamResponse = (
  ctx: Context,
  plan: SynthesisPlan,
  context: DeliveryContext & { readonly body: StreamBody },
) => Promise<void>;

interface StreamResponseOptions {
  readonly streaming: Pick<Streaming, "begin">;
  readonly synthesis: Pick<CompleteDelivery, "deliver">;
  readonly names: HeaderNames;
  readonly renewToken: RenewToken;
}

/**
 * Sends 200 once the first bytes exist and the request is recorded; earlier errors get their own
 * status. The bytes are sent as they arrive, at the client's pace. A later error becomes an `error`
 * event, or resets the connection if the body is the audio itself, so that truncated audio never
 * looks complete.
 */
export const createStreamResponse =
  ({ streaming, synthesis, names, renewToken }: StreamResponseOptions): StreamResponse =>
  async (ctx, plan, context) => {
    const { body, ...request } = context;
    const { signal } = request;
    const stream =
      !body.isStream && hasLengthInHeader(plan.renditions[0].recipe.format)
        ? await completeAudio(synthesis, plan, request)
        : await streaming.begin(plan, { ...request, kind: body.kind }, signal);
    ctx.status = 200;
    ctx.set({
      "Content-Type": body.kind === "sse" ? "text/event-stream; charset=utf-8" : stream.contentType,
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no", // otherwise nginx buffers the response
      [names.prosodyApplied]: formatProsodyParameters(stream.prosodyApplied),
      [names.cached]: stream.source,
      ...body.headers(stream),
    });
    renewToken(ctx);
    await sendChunks(ctx, body.chunks(stream), signal);
  };

/** Resolves with the audio when it is complete. */
const completeAudio = async (
  synthesis: Pick<CompleteDelivery, "deliver">,
  plan: SynthesisPlan,
  context: DeliveryContext,
): Promise<ChunkedAudio> => {
  const all = { hasRange: false, select: () => ({}) };
  const { audio, characters } = await synthesis.deliver(plan, context, all);
  const { rendition, source, bytes } = audio;
  return {
    rendition,
    contentType: formats[audio.format].mimeType,
    prosodyApplied: rendition.recipe.applied,
    source,
    characters,
    audio: inChunks(bytes),
    delivered: () => undefined,
    byteLength: bytes.length,
  };
};

/** A multiple of three bytes, so that only the last chunk in base64 is padded. */
const chunkBytes = 48 * 1024;

async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

/** The streams of `/v2`. */
export const streamBodies: Readonly<Record<HttpStreamKind, StreamBody>> = {
  sse: {
    kind: "sse",
    isStream: true,
    headers: () => ({ "X-Streaming": "sse" }),
    chunks: (stream) => eventStream({ ...stream, audio: countingDelivery(stream) }),
  },
  audio: {
    kind: "audio",
    isStream: true,
    headers: () => ({ "X-Streaming": "audio" }),
    chunks: countingDelivery,
  },
};

/** The bytes of audio that was not requested as a stream. */
export const plainAudio = (headers: StreamBody["headers"]): StreamBody => ({
  kind: "audio",
  isStream: false,
  headers: (audio) => ({
    ...headers(audio),
    ...(audio.byteLength !== undefined && { "Content-Length": String(audio.byteLength) }),
  }),
  chunks: countingDelivery,
});

/** Yields the chunks of the audio, and reports each as delivered when it is about to be written. */
export async function* countingDelivery({
  audio,
  delivered,
}: Pick<ChunkedAudio, "audio" | "delivered">): AsyncGenerator<Buffer> {
  for await (const chunk of audio) {
    delivered();
    yield chunk;
  }
}
