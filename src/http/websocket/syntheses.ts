import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Principal } from "../../application/access/principal.ts";
import type { Streaming, Synthesis } from "../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../application/synthesis/planner.ts";
import { Conflict } from "../../domain/errors.ts";
import { formats } from "../../domain/synthesis/formats.ts";
import { RateLimited, tryWithMore } from "../../limits/limits.ts";
import { type RequestSchema, requestFromBody } from "../routes/synthesis/request.ts";
import { audioFrame, framePayloads } from "./messages.ts";
import type { Outbox } from "./outbox.ts";
import { isInternal, reasonOf, SocketError, toErrorMessage } from "./socket-error.ts";

export interface SynthesisServices {
  /** The same schema as over HTTP. */
  readonly schema: RequestSchema;
  readonly synthesis: Pick<Synthesis, "plan">;
  readonly streaming: Streaming;
}

interface Running {
  readonly id: string;
  readonly plan: SynthesisPlan;
  readonly context: Parameters<Streaming["begin"]>[1];
  readonly signal: AbortSignal;
  readonly sent: { chunks: number; bytes: number };
}

/** How a stream ended, for the log. */
interface Outcome {
  /** `whole`, or the code of the error. */
  readonly outcome: string;
  readonly reason?: string;
}

interface SynthesesOptions {
  readonly services: SynthesisServices;
  readonly maxStreams: number;
  /**
   * Admits each synthesis as one request.
   * @throws the error that refuses the request
   */
  readonly admit: () => Principal;
  readonly onEnd: () => void;
  readonly outbox: Outbox;
  readonly log: Logger;
}

/** The syntheses in progress on one socket. */
export class Syntheses {
  readonly #options: SynthesesOptions;
  readonly #inProgress = new Map<
    string,
    { readonly abort: AbortController; readonly ended: Promise<void> }
  >();

  constructor(options: SynthesesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#inProgress.size;
  }

  /**
   * Starts a synthesis, and sends its result or its error to the client. `body`: a
   * SynthesizeRequest, not validated yet.
   */
  start(id: string, body: unknown): void {
    const { maxStreams } = this.#options;
    const isInUse = this.#inProgress.has(id);
    try {
      if (isInUse) throw new Conflict(`The synthesis ${id} is already in progress.`);
      void this.#begin(id, body, this.#options.admit());
    } catch (error) {
      const mustWait = error instanceof RateLimited && error.more !== undefined;
      if (mustWait && this.count < maxStreams) return void this.#beginLater(id, body);
      // With the id, the client would take the error for the end of the synthesis in progress.
      this.#refuse(mustWait ? tooManyStreams(maxStreams) : error, isInUse ? undefined : id, id);
    }
  }

  /** Has no effect if the synthesis has ended. */
  cancel(id: string): void {
    this.#inProgress.get(id)?.abort.abort(cancelled);
  }

  /** Ends all syntheses, and sends the reason to the client. */
  abortAll(reason: Error): void {
    for (const { abort } of this.#inProgress.values()) abort.abort(reason);
  }

  /** Resolves when the syntheses in progress have been recorded. */
  async drained(): Promise<void> {
    await Promise.all([...this.#inProgress.values()].map(({ ended }) => ended));
  }

  /**
   * Begins a synthesis as soon as this process gets more of a limit of the key. Until then it can
   * be cancelled like one in progress.
   */
  #beginLater(id: string, body: unknown): void {
    const { admit, onEnd } = this.#options;
    const abort = new AbortController();
    const ended = tryWithMore(admit, abort.signal)
      .finally(() => this.#inProgress.delete(id))
      .then((principal) => this.#begin(id, body, principal))
      .catch((error) => this.#refuse(error, id, id))
      .finally(onEnd);
    this.#inProgress.set(id, { abort, ended });
  }

  /**
   * Resolves when the synthesis has ended.
   * @throws the error that refuses the request before it starts
   */
  #begin(id: string, body: unknown, principal: Principal): Promise<void> {
    const { services, maxStreams, outbox } = this.#options;
    if (this.count >= maxStreams) throw tooManyStreams(maxStreams);
    const plan = services.synthesis.plan(requestFromBody(services.schema, body), principal.websiteId);
    services.streaming.requireProvider(plan);
    if (plan.muted) {
      sendSilence(outbox, id, plan);
      return Promise.resolve();
    }
    const abort = new AbortController();
    const context = { principal, requestId: randomUUID(), kind: "websocket" } as const;
    const sent = { chunks: 0, bytes: 0 };
    const ended = this.#run({ id, plan, context, signal: abort.signal, sent });
    this.#inProgress.set(id, { abort, ended });
    return ended;
  }

  /** Never rejects. */
  async #run(running: Running): Promise<void> {
    const { log, onEnd } = this.#options;
    const startedAt = performance.now();
    const { id, context, signal, sent } = running;
    const about = { requestId: context.requestId, stream: id };
    let outcome: Outcome = { outcome: "whole" };
    try {
      await this.#stream(running);
    } catch (error) {
      outcome = this.#sendError(signal.aborted ? signal.reason : error, id, about);
    }
    this.#inProgress.delete(id);
    log.info({ ...about, ...outcome, ...sent, ms: Math.round(performance.now() - startedAt) }, "stream");
    onEnd();
  }

  async #stream({ id, plan, context, signal, sent }: Running): Promise<void> {
    const { services, outbox } = this.#options;
    const begun = await services.streaming.begin(plan, context, signal);
    const { contentType, prosodyApplied, audio, delivered } = begun;
    outbox.send({ type: "stream_start", id, contentType, prosodyApplied: [...prosodyApplied] });
    for await (const chunk of audio) {
      for (const payload of framePayloads(chunk)) {
        const buildFrame = (): Buffer => {
          delivered();
          return audioFrame(id, sent.chunks, payload);
        };
        await outbox.sendFrame(buildFrame, signal);
        sent.chunks += 1;
        sent.bytes += payload.length;
      }
    }
    signal.throwIfAborted();
    outbox.send({ type: "stream_end", id, totalBytes: sent.bytes, totalChunks: sent.chunks });
  }

  #refuse(error: unknown, id: string | undefined, stream: string): void {
    const outcome = this.#sendError(error, id, { stream });
    this.#options.log.info({ stream, ...outcome }, "stream");
  }

  /** Returns the error's code and its reason, for the log. */
  #sendError(error: unknown, id: string | undefined, about: object): Outcome {
    const message = toErrorMessage(error, id);
    if (isInternal(error)) this.#options.log.error({ ...about, err: error }, "failed");
    this.#options.outbox.send(message);
    return { outcome: message.code ?? "ENGINE_FAILED", ...reasonOf(error) };
  }
}

/** Sends a stream without audio, for volume 0. */
const sendSilence = (outbox: Outbox, id: string, { renditions: [rendition] }: SynthesisPlan): void => {
  const contentType = formats[rendition.recipe.format].mimeType;
  outbox.send({ type: "stream_start", id, contentType, prosodyApplied: ["volume"] });
  outbox.send({ type: "stream_end", id, totalBytes: 0, totalChunks: 0 });
};

const cancelled = new SocketError("The synthesis was cancelled.", "CANCELLED");

const tooManyStreams = (maxStreams: number): SocketError =>
  new SocketError(`The socket has ${maxStreams} syntheses in progress, the maximum.`, "TOO_MANY_STREAMS");
