import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Context } from "koa";
import type { Streaming, StreamKind, SynthesisStream } from "../../../application/synthesis/streaming.ts";
import type { RequestContext, SynthesisPlan } from "../../../application/synthesis/synthesis.ts";
import { formatKnobs } from "../../../domain/synthesis/prosody.ts";
import type { RenewToken } from "../../access/token-renewal.ts";
import type { HeaderNames } from "../../kernel/headers.ts";
import { eventStream } from "./event-stream.ts";

/** The forms that a stream over HTTP has. */
export type HttpStreamKind = Exclude<StreamKind, "websocket">;

/** Answers with speech while it is made. */
export type StreamAnswer = (
  ctx: Context,
  plan: SynthesisPlan,
  order: RequestContext & { readonly kind: HttpStreamKind; readonly signal: AbortSignal },
) => Promise<void>;

/**
 * 200 once the first bytes are there and on the ledger; what fails before has a status of its own. From then on the
 * bytes go out as they come, at the pace of the client; a failure is told as an `error` event, or, where the bytes are
 * the audio itself, by a connection that breaks off, so that a cut never looks whole.
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
  async (ctx, plan, order) => {
    const { kind, signal } = order;
    const stream = await streaming.begin(plan, order, signal);
    ctx.status = 200;
    ctx.set({
      "Content-Type": kind === "sse" ? "text/event-stream; charset=utf-8" : stream.contentType,
      "Cache-Control": "no-store",
      "X-Streaming": kind,
      "X-Accel-Buffering": "no", // nginx would collect it
      [names.prosodyApplied]: formatKnobs(stream.prosodyApplied),
      [names.cached]: stream.provenance,
    });
    renewToken(ctx);
    ctx.respond = false; // A pipe of Koa's would read ahead, and costs half a millisecond before the first byte.
    try {
      await deliver(ctx.res, bodies[kind](stream), signal);
    } catch (error) {
      breakOff(ctx.res);
      if (!signal.aborted) ctx.app.emit("error", error, ctx);
    }
  };

/** At the client's pace: what it does not take is not asked for. @throws what breaks it off; the signal's abort */
const deliver = async (
  res: ServerResponse,
  chunks: AsyncIterable<string | Buffer>,
  signal: AbortSignal,
): Promise<void> => {
  for await (const chunk of chunks) {
    if (!res.write(chunk)) await once(res, "drain", { signal });
  }
  res.end();
};

/**
 * After what was told already, and without the last chunk, by which a client would take it for whole. Where there are no
 * chunks (HTTP/1.0, as nginx asks unless told otherwise) the connection's own end would be the sound's: it is reset.
 */
const breakOff = ({ socket, chunkedEncoding }: ServerResponse): void =>
  void (chunkedEncoding ? socket?.destroySoon() : socket?.resetAndDestroy());

const bodies: Readonly<Record<HttpStreamKind, (stream: SynthesisStream) => AsyncIterable<string | Buffer>>> =
  {
    sse: (stream) => eventStream({ ...stream, audio: delivering(stream) }),
    audio: delivering,
  };

/** A chunk that is asked for is written at once. */
async function* delivering({ audio, delivered }: SynthesisStream): AsyncGenerator<Buffer> {
  for await (const chunk of audio) {
    delivered();
    yield chunk;
  }
}
