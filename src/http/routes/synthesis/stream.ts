import type { Context } from "koa";
import type {
  RequestContext,
  Streaming,
  StreamKind,
  SynthesisStream,
} from "../../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../application/synthesis/planner.ts";
import { formatKnobs } from "../../../domain/synthesis/prosody.ts";
import type { RenewToken } from "../../access/token-renewal.ts";
import type { HeaderNames } from "../../kernel/headers.ts";
import { sendChunks } from "../../kernel/send-chunks.ts";
import { eventStream } from "./event-stream.ts";

export type HttpStreamKind = Exclude<StreamKind, "websocket" | "wyoming">;

/** How an API writes a stream into a response. */
export interface StreamBody {
  readonly kind: HttpStreamKind;
  /** The headers of the API, in addition to those of every stream. */
  headers(stream: SynthesisStream): Readonly<Record<string, string>>;
  /** Reads `audio` once, and calls `delivered` for each chunk that it passes on. */
  chunks(stream: SynthesisStream): AsyncIterable<string | Buffer>;
}

/** Sends the audio while it is synthesized. */
export type StreamAnswer = (
  ctx: Context,
  plan: SynthesisPlan,
  context: RequestContext & { readonly body: StreamBody; readonly signal: AbortSignal },
) => Promise<void>;

/**
 * Sends 200 once the first bytes exist and the request is recorded; earlier errors get their own status. The bytes are
 * sent as they arrive, at the client's pace. A later error becomes an `error` event, or resets the connection if the body is
 * the audio itself, so that truncated audio never looks complete.
 */
export const createStreamAnswer =
  ({
    streaming,
    names,
    renewToken,
  }: {
    streaming: Streaming;
    names: HeaderNames;
    renewToken: RenewToken;
  }): StreamAnswer =>
  async (ctx, plan, context) => {
    const { body, signal, ...request } = context;
    const stream = await streaming.begin(plan, { ...request, kind: body.kind }, signal);
    ctx.status = 200;
    ctx.set({
      "Content-Type": body.kind === "sse" ? "text/event-stream; charset=utf-8" : stream.contentType,
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no", // otherwise nginx buffers the response
      [names.prosodyApplied]: formatKnobs(stream.prosodyApplied),
      [names.cached]: stream.provenance,
      ...body.headers(stream),
    });
    renewToken(ctx);
    await sendChunks(ctx, body.chunks(stream), signal);
  };

/** The streams of `/v2`. */
export const streamBodies: Readonly<Record<HttpStreamKind, StreamBody>> = {
  sse: {
    kind: "sse",
    headers: () => ({ "X-Streaming": "sse" }),
    chunks: (stream) => eventStream({ ...stream, audio: countingDelivery(stream) }),
  },
  audio: { kind: "audio", headers: () => ({ "X-Streaming": "audio" }), chunks: countingDelivery },
};

/** The audio, every chunk of which is written. */
export async function* countingDelivery({
  audio,
  delivered,
}: Pick<SynthesisStream, "audio" | "delivered">): AsyncGenerator<Buffer> {
  for await (const chunk of audio) {
    delivered();
    yield chunk;
  }
}
