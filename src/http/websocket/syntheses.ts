import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { Principal } from "../../application/access/principal.ts";
import type { Streaming } from "../../application/synthesis/streaming.ts";
import type { Synthesis, SynthesisPlan } from "../../application/synthesis/synthesis.ts";
import { Conflict } from "../../domain/errors.ts";
import { contentTypes } from "../../domain/synthesis/speech.ts";
import { type RequestSchema, requestFromBody } from "../routes/synthesis/request.ts";
import { audioFrame, framePayloads } from "./audio-frame.ts";
import type { Outbox } from "./outbox.ts";
import { isServerFault, SocketError, toErrorMessage } from "./socket-error.ts";

/** What speaks: from a request to a stream of sound. */
export interface SynthesisServices {
  /** The shape of a request, the same as over HTTP. */
  readonly schema: RequestSchema;
  readonly synthesis: Pick<Synthesis, "plan">;
  readonly streaming: Streaming;
}

/** The syntheses of one socket that are under way. */
export interface Syntheses {
  /** Begins one; whatever becomes of it is told to the client. `body`: a SynthesizeRequest, not looked at yet. */
  start(id: string, body: unknown): void;
  /** Ends one, if it is still there. */
  cancel(id: string): void;
  /** Ends all, telling the client why. */
  abortAll(reason: Error): void;
  readonly count: number;
  /** Resolves when those that there are now have been accounted for. */
  settled(): Promise<void>;
}

export const createSyntheses = ({
  speaking: { schema, synthesis, streaming },
  atMost,
  admit,
  onEnd,
  outbox,
  log,
}: {
  speaking: SynthesisServices;
  atMost: number;
  /** Lets in each synthesis as a request of its own. @throws what refuses it */
  admit: () => Principal;
  onEnd: () => void;
  outbox: Outbox;
  log: Logger;
}): Syntheses => {
  const underWay = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();

  const speak = async ({ id, plan, order, sent }: Speech, signal: AbortSignal): Promise<void> => {
    const { contentType, prosodyApplied, audio, delivered } = await streaming.begin(plan, order, signal);
    outbox.send({ type: "stream_start", id, contentType, prosodyApplied: [...prosodyApplied] });
    for await (const chunk of audio) {
      for (const piece of framePayloads(chunk)) {
        const makeFrame = (): Buffer => {
          delivered();
          return audioFrame(id, sent.chunks, piece);
        };
        await outbox.sendFrame(makeFrame, signal);
        sent.chunks += 1;
        sent.bytes += piece.length;
      }
    }
    signal.throwIfAborted();
    outbox.send({ type: "stream_end", id, totalBytes: sent.bytes, totalChunks: sent.chunks });
  };

  /** Never rejects. */
  const run = async (speech: Speech, signal: AbortSignal): Promise<void> => {
    const began = performance.now();
    const { id, order, sent } = speech;
    const about = { requestId: order.requestId, stream: id };
    let outcome = "whole";
    try {
      await speak(speech, signal);
    } catch (thrown) {
      const error = signal.aborted ? signal.reason : thrown;
      const told = toErrorMessage(error, id);
      outcome = told.code ?? "ENGINE_FAILED";
      if (isServerFault(error)) log.error({ ...about, err: error }, "failed");
      outbox.send(told);
    }
    underWay.delete(id);
    log.info({ ...about, outcome, ...sent, ms: Math.round(performance.now() - began) }, "stream");
    onEnd();
  };

  /** What of the request can be judged at once. @throws */
  const begin = (id: string, request: unknown): void => {
    const principal = admit();
    if (underWay.size >= atMost) throw tooMany(atMost);
    const plan = synthesis.plan(requestFromBody(schema, request), principal.websiteId);
    streaming.requireProvider(plan);
    if (plan.silent) return void tellSilence(outbox, id, plan);
    const order = { principal, requestId: randomUUID(), kind: "websocket" } as const;
    const controller = new AbortController();
    const ended = run({ id, plan, order, sent: { chunks: 0, bytes: 0 } }, controller.signal);
    underWay.set(id, { controller, ended });
  };

  return {
    start: (id, request) => {
      const isTaken = underWay.has(id);
      try {
        if (isTaken) throw new Conflict(`The synthesis ${id} is under way.`);
        begin(id, request);
      } catch (error) {
        // Under its id a refusal would be taken for the end of the one that is under way.
        const told = toErrorMessage(error, isTaken ? undefined : id);
        if (isServerFault(error)) log.error({ stream: id, err: error }, "failed");
        log.info({ stream: id, outcome: told.code }, "stream");
        outbox.send(told);
      }
    },
    cancel: (id) => underWay.get(id)?.controller.abort(cancelled),
    abortAll: (reason) => {
      for (const { controller } of underWay.values()) controller.abort(reason);
    },
    get count() {
      return underWay.size;
    },
    settled: async () => {
      await Promise.all([...underWay.values()].map(({ ended }) => ended));
    },
  };
};

/** One synthesis, and how much of it has left. */
interface Speech {
  readonly id: string;
  readonly plan: SynthesisPlan;
  readonly order: Parameters<Streaming["begin"]>[1];
  readonly sent: { chunks: number; bytes: number };
}

/** Volume 0: a stream with its beginning and its end, and nothing to hear between them. */
const tellSilence = (outbox: Outbox, id: string, { renditions: [take] }: SynthesisPlan): void => {
  const contentType = contentTypes[take.recipe.format];
  outbox.send({ type: "stream_start", id, contentType, prosodyApplied: ["volume"] });
  outbox.send({ type: "stream_end", id, totalBytes: 0, totalChunks: 0 });
};

const cancelled = new SocketError("The synthesis was cancelled.", "CANCELLED", { retryable: false });

const tooMany = (atMost: number): SocketError =>
  new SocketError(`At most ${atMost} syntheses share one socket.`, "TOO_MANY_STREAMS", { retryable: true });
