import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Principal } from "../../application/access/principal.ts";
import type { Streaming, Synthesis } from "../../application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../application/synthesis/planner.ts";
import { Conflict } from "../../domain/errors.ts";
import { formats } from "../../domain/synthesis/formats.ts";
import { type RequestSchema, requestFromBody } from "../routes/synthesis/request.ts";
import { audioFrame, framePayloads } from "./messages.ts";
import type { Outbox } from "./outbox.ts";
import { isServerFault, SocketError, toErrorMessage } from "./socket-error.ts";

export interface SynthesisServices {
  /** The same schema as over HTTP. */
  readonly schema: RequestSchema;
  readonly synthesis: Pick<Synthesis, "plan">;
  readonly streaming: Streaming;
}

/** The syntheses in progress on one socket. */
export interface Syntheses {
  /** Starts one, and sends its result or its error to the client. `body`: a SynthesizeRequest, not validated yet. */
  start(id: string, body: unknown): void;
  /** Has no effect if the synthesis has ended. */
  cancel(id: string): void;
  /** Ends all, and sends the reason to the client. */
  abortAll(reason: Error): void;
  readonly count: number;
  /** Resolves when the syntheses in progress have been recorded. */
  settled(): Promise<void>;
}

interface Running {
  readonly id: string;
  readonly plan: SynthesisPlan;
  readonly context: Parameters<Streaming["begin"]>[1];
  readonly signal: AbortSignal;
  readonly sent: { chunks: number; bytes: number };
}

export const createSyntheses = ({
  services: { schema, synthesis, streaming },
  maxStreams,
  admit,
  onEnd,
  outbox,
  log,
}: {
  services: SynthesisServices;
  maxStreams: number;
  /** Admits each synthesis as one request. @throws the refusal */
  admit: () => Principal;
  onEnd: () => void;
  outbox: Outbox;
  log: Logger;
}): Syntheses => {
  const inProgress = new Map<string, { readonly abort: AbortController; readonly ended: Promise<void> }>();

  const stream = async ({ id, plan, context, signal, sent }: Running): Promise<void> => {
    const { contentType, prosodyApplied, audio, delivered } = await streaming.begin(plan, context, signal);
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
  };

  const sendError = (error: unknown, id: string | undefined, about: object): string => {
    const message = toErrorMessage(error, id);
    if (isServerFault(error)) log.error({ ...about, err: error }, "failed");
    outbox.send(message);
    return message.code ?? "ENGINE_FAILED";
  };

  /** Never rejects. */
  const run = async (running: Running): Promise<void> => {
    const startedAt = performance.now();
    const { id, context, signal, sent } = running;
    const about = { requestId: context.requestId, stream: id };
    let outcome = "whole";
    try {
      await stream(running);
    } catch (error) {
      outcome = sendError(signal.aborted ? signal.reason : error, id, about);
    }
    inProgress.delete(id);
    log.info({ ...about, outcome, ...sent, ms: Math.round(performance.now() - startedAt) }, "stream");
    onEnd();
  };

  /** @throws what refuses the request before it starts */
  const begin = (id: string, body: unknown): void => {
    const principal = admit();
    if (inProgress.size >= maxStreams) throw tooManyStreams(maxStreams);
    const plan = synthesis.plan(requestFromBody(schema, body), principal.websiteId);
    streaming.requireProvider(plan);
    if (plan.silent) {
      sendSilence(outbox, id, plan);
      return;
    }
    const abort = new AbortController();
    const context = { principal, requestId: randomUUID(), kind: "websocket" } as const;
    const sent = { chunks: 0, bytes: 0 };
    const ended = run({ id, plan, context, signal: abort.signal, sent });
    inProgress.set(id, { abort, ended });
  };

  return {
    start: (id, body) => {
      const isInUse = inProgress.has(id);
      try {
        if (isInUse) throw new Conflict(`The synthesis ${id} is already in progress.`);
        begin(id, body);
      } catch (error) {
        // With the id, the client would take the error for the end of the synthesis in progress.
        const outcome = sendError(error, isInUse ? undefined : id, { stream: id });
        log.info({ stream: id, outcome }, "stream");
      }
    },
    cancel: (id) => inProgress.get(id)?.abort.abort(cancelled),
    abortAll: (reason) => {
      for (const { abort } of inProgress.values()) abort.abort(reason);
    },
    get count() {
      return inProgress.size;
    },
    settled: async () => {
      await Promise.all([...inProgress.values()].map(({ ended }) => ended));
    },
  };
};

/** Volume 0: a stream without audio. */
const sendSilence = (outbox: Outbox, id: string, { renditions: [rendition] }: SynthesisPlan): void => {
  const contentType = formats[rendition.recipe.format].mimeType;
  outbox.send({ type: "stream_start", id, contentType, prosodyApplied: ["volume"] });
  outbox.send({ type: "stream_end", id, totalBytes: 0, totalChunks: 0 });
};

const cancelled = new SocketError("The synthesis was cancelled.", "CANCELLED", { retryable: false });

const tooManyStreams = (maxStreams: number): SocketError =>
  new SocketError(`The socket has ${maxStreams} syntheses in progress, the maximum.`, "TOO_MANY_STREAMS", {
    retryable: true,
  });
