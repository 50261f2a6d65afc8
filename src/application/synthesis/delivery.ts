import type { Pipeline, Rendition, Sound, StreamedSound } from "../../audio/pipeline/pipeline.ts";
import { isByok } from "../../domain/accounts/byok-providers.ts";
import { EngineFailed, NotFound, Unavailable } from "../../domain/errors.ts";
import { formats, type MimeType } from "../../domain/synthesis/formats.ts";
import type { Knob } from "../../domain/synthesis/speech.ts";
import type { Idempotency, Provenance, StreamKind, SynthesisServed } from "../../domain/usage/usage.ts";
import type { Principal } from "../access/authentication.ts";
import type { Ledger, StreamOutcome } from "../usage/ledger.ts";
import type { Planner, SynthesisPlan } from "./planner.ts";

export type { Rendition, Sound, StreamKind };

/** The caller and the request that a delivery is for. */
export interface RequestContext {
  readonly principal: Principal;
  readonly requestId: string;
  /** The Idempotency-Key: a repeat of the same request is charged once. */
  readonly idempotency?: Idempotency | undefined;
}

export interface StreamContext extends RequestContext {
  readonly kind: StreamKind;
}

/** The requested part of the sound, as far as it is known without the sound. `uncertain`: the range may be unsatisfiable. */
export type Extent = "whole" | "part" | "uncertain";

/** A sound that is still being synthesized. Its first bytes exist, and the ledger holds its serving. */
export interface SynthesisStream {
  readonly contentType: MimeType;
  readonly prosodyApplied: readonly Knob[];
  readonly provenance: Provenance;
  /**
   * The chunks, at the reader's pace; to be read once. When reading ends, for any reason, the delivered bytes are
   * recorded. A failure during the stream throws {EngineFailed} or {Unavailable}.
   */
  readonly audio: AsyncIterable<Buffer>;
  /** To be called when audio is written to the connection. Without a call the serving is voided. */
  readonly delivered: () => void;
}

/** Whole sounds. */
export interface WholeDelivery {
  /** The sound, if it is in memory. */
  fromMemory(plan: SynthesisPlan): Sound | undefined;
  /** The sound from memory or store; it is not synthesized. */
  fromCache(plan: SynthesisPlan, signal: AbortSignal): Promise<Sound | undefined>;
  /**
   * The sound, synthesized if necessary. A request that would certainly exceed the quota is refused before any work.
   * @throws {KeyIsSuspended} @throws {EngineFailed} @throws {Unavailable}
   */
  obtain(plan: SynthesisPlan, context: RequestContext, extent: Extent, signal: AbortSignal): Promise<Sound>;
  /** Records the serving. The audio may leave only after this resolves. @throws {KeyIsSuspended} @throws {Unavailable} */
  record(plan: SynthesisPlan, context: RequestContext, sound: Sound, partial: boolean): Promise<void>;
}

/** Plans requests and delivers whole sounds. */
export interface Synthesis extends Planner, WholeDelivery {}

/** Sounds that are sent while they are synthesized; BYOK engines only. */
export interface Streaming {
  /** @throws {NotFound} if the plan's engine does not stream */
  requireProvider(plan: SynthesisPlan): void;
  /**
   * Resolves when the first bytes may leave. An aborted `signal` ends the stream, and the synthesis if it was the last
   * listener. Silent plans are not accepted.
   * @throws {NotFound} if the plan's engine does not stream
   * @throws {KeyIsSuspended} @throws {EngineFailed} @throws {Unavailable}
   */
  begin(plan: SynthesisPlan, context: StreamContext, signal: AbortSignal): Promise<SynthesisStream>;
}

export interface DeliveryOptions {
  readonly pipeline: Pick<Pipeline, "fromMemory" | "fromCache" | "obtain" | "stream">;
  readonly ledger: Ledger;
  /** Called when the end of a stream could not be recorded. */
  readonly onError: (what: string, error: unknown) => void;
}

/**
 * Delivers sounds. Every delivery, whole or streamed, takes the same steps: check the quota, obtain the sound, record the
 * serving, and only then hand the audio over. The ledger voids servings without audio.
 */
export const createDelivery = ({ pipeline, ledger, onError }: DeliveryOptions): WholeDelivery & Streaming => {
  const checkQuota = (plan: SynthesisPlan, context: RequestContext, partial: boolean): Promise<void> => {
    const { principal, requestId, idempotency } = context;
    const hashes = plan.renditions.map(({ hash }) => hash);
    const request = { hashes, characters: plan.characters, partial, idempotency };
    return ledger.checkQuota(principal, request, requestId);
  };

  const record = (
    plan: SynthesisPlan,
    context: RequestContext,
    sound: Sound | StreamedSound,
    delivery: Pick<SynthesisServed, "partial" | "stream">,
  ) => {
    const { recipe, hash, voice } = sound.rendition;
    return ledger.record(context.principal, {
      requestId: context.requestId,
      hash,
      characters: plan.characters,
      engine: recipe.engine,
      voice,
      lang: recipe.lang,
      format: recipe.format,
      cached: sound.provenance,
      ...delivery,
      ...(context.idempotency && { idempotency: context.idempotency }),
      ...(sound.failed.length > 0 && { failed: sound.failed }),
    });
  };

  const begin: Streaming["begin"] = async (plan, context, signal) => {
    requireProvider(plan);
    await checkQuota(plan, context, false);
    const { principal, kind } = context;
    const synthesis = new AbortController();
    const signals = AbortSignal.any([signal, synthesis.signal]);
    const sound = await pipeline.stream(plan.renditions, signals, principal.apiKey);
    const receipt = await record(plan, context, sound, { stream: kind }).catch((error) => {
      synthesis.abort(error);
      throw error;
    });
    const { rendition, provenance } = sound;
    let hasDelivered = false;
    const audio = meterStream(sound.audio, signal, (outcome) => {
      synthesis.abort(streamEnded);
      ledger
        .recordStreamEnd(principal, receipt, { hash: rendition.hash, ...outcome })
        .catch((error) => onError("the end of a stream was not recorded", error));
      if (!hasDelivered) ledger.void(receipt);
    });
    signal.throwIfAborted();
    return {
      contentType: formats[rendition.recipe.format].mimeType,
      prosodyApplied: rendition.recipe.applied,
      provenance,
      audio,
      delivered: () => {
        hasDelivered = true;
      },
    };
  };

  return {
    fromMemory: ({ renditions: [first] }) => pipeline.fromMemory(first),
    fromCache: async ({ renditions: [first] }, signal) => pipeline.fromCache(first, signal),
    obtain: async (plan, context, extent, signal) => {
      if (extent !== "uncertain") await checkQuota(plan, context, extent === "part");
      return await pipeline.obtain(plan.renditions, signal, context.principal.apiKey);
    },
    record: async (plan, context, sound, partial) => {
      await record(plan, context, sound, partial ? { partial } : {});
    },
    requireProvider,
    begin,
  };
};

const streamEnded = new Error("The stream has ended.");

/** The first voice decides. A fallback may be of any engine. @throws {NotFound} */
const requireProvider = ({ renditions: [{ recipe }] }: SynthesisPlan): void => {
  if (isByok(recipe.engine)) return;
  throw new NotFound(`There is no streaming provider for the engine ${recipe.engine}.`);
};

/**
 * Passes the chunks through and reports once how the stream ended, also if the signal is aborted before the first read. A
 * chunk counts as delivered when the next one is requested.
 */
const meterStream = (
  audio: AsyncIterable<Buffer>,
  signal: AbortSignal,
  onEnd: (outcome: Omit<StreamOutcome, "hash">) => void,
): AsyncIterable<Buffer> => {
  let bytes = 0;
  let chunks = 0;
  let ended = false;
  const end = (outcome: StreamOutcome["outcome"]): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener("abort", onAbort);
    onEnd({ outcome, bytes, chunks });
  };
  const onAbort = (): void => end("left");
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort);
  return (async function* () {
    try {
      for await (const chunk of audio) {
        yield chunk;
        bytes += chunk.length;
        chunks++;
      }
      end("whole");
    } catch (error) {
      end(signal.aborted ? "left" : "failed");
      throw error instanceof EngineFailed || error instanceof Unavailable || signal.aborted
        ? error
        : new Unavailable("The stream was interrupted.", 1, { cause: error });
    } finally {
      end("left");
    }
  })();
};
