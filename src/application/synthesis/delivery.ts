import type {
  AudioMemory,
  Pipeline,
  Rendition,
  Sound,
  StreamedSound,
} from "../../audio/pipeline/pipeline.ts";
import { isByok } from "../../domain/accounts/byok-providers.ts";
import { EngineFailed, NotFound, Unavailable } from "../../domain/errors.ts";
import type { Idempotency, Provenance, Receipt, StreamKind } from "../../domain/ledger/serving.ts";
import { formats, type MimeType } from "../../domain/synthesis/formats.ts";
import type { Knob } from "../../domain/synthesis/speech.ts";
import type { ActingKey } from "../access/principal.ts";
import type { Ledger, NewServing, RecordCallback, StreamOutcome } from "../ledger/ledger.ts";
import type { Planner, SynthesisPlan } from "./planner.ts";

export type { AudioMemory, Rendition, Sound, StreamKind };

/** The caller and the request that a delivery is for. */
export interface RequestContext {
  readonly principal: ActingKey;
  readonly requestId: string;
  /** The Idempotency-Key: a repeat of the same request is charged once. */
  readonly idempotency?: Idempotency | undefined;
  /**
   * Calls back when the client has read the whole answer, or has left. Absent: the caller keeps no audio in memory that it
   * has read.
   */
  readonly onAnswered?: (callback: () => void) => void;
}

export interface WholeContext extends RequestContext {
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

export interface StreamContext extends RequestContext {
  readonly kind: StreamKind;
}

/** The requested part of the sound, as far as it is known without the sound. `uncertain`: the range may be unsatisfiable. */
export type Extent = "whole" | "part" | "uncertain";

/** A sound that is still being synthesized. Its first bytes exist, and the ledger holds its serving. */
export interface SynthesisStream {
  readonly rendition: Rendition;
  readonly contentType: MimeType;
  readonly prosodyApplied: readonly Knob[];
  readonly provenance: Provenance;
  /** Charged to the key; 0 for a repeat. */
  readonly characters: number;
  /**
   * The chunks, at the reader's pace; to be read once. When reading ends, for any reason, the delivered bytes are
   * recorded. A failure during the stream throws {EngineFailed} or {Unavailable}.
   */
  readonly audio: AsyncIterable<Buffer>;
  /** What the reader keeps in memory. */
  readonly memory: AudioMemory;
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
  /**
   * Records the serving. The audio may leave only after this resolves, with the characters that are charged: 0 for a repeat.
   * The serving of a caller that has disconnected in the meantime is voided.
   * @throws {KeyIsSuspended} @throws {Unavailable} @throws the signal's reason when the caller has disconnected
   */
  record(plan: SynthesisPlan, context: WholeContext, sound: Sound, partial: boolean): Promise<number>;
  readonly recordWhole: RecordWhole;
  /** Voids a serving of `recordWhole` whose caller has disconnected. To be called instead of sending the audio. */
  voidServing(receipt: Receipt): void;
}

/**
 * Records the serving of a whole sound, like `record`. Calls `done` once, later: without an error the audio may leave. The
 * caller of this function must check then whether its client is still connected.
 */
export type RecordWhole = (
  plan: SynthesisPlan,
  principal: ActingKey,
  requestId: string,
  sound: Sound,
  done: RecordCallback,
) => void;

/** Plans requests and delivers whole sounds. */
export interface Synthesis extends Planner, WholeDelivery {}

/** Sounds that are sent while they are synthesized. */
export interface Streaming {
  /** `/v2` streams only BYOK engines. @throws {NotFound} for any other engine */
  requireProvider(plan: SynthesisPlan): void;
  /**
   * Resolves when the first bytes may leave. An aborted `signal` ends the stream, and the synthesis if it was the last
   * listener. Silent plans are not accepted.
   * @throws {KeyIsSuspended} @throws {EngineFailed} @throws {Unavailable}
   */
  begin(plan: SynthesisPlan, context: StreamContext, signal: AbortSignal): Promise<SynthesisStream>;
}

export interface DeliveryOptions {
  readonly pipeline: Pick<Pipeline, "fromMemory" | "fromCache" | "obtain" | "asKept" | "stream">;
  readonly ledger: Ledger;
}

/**
 * Delivers sounds. Every delivery, whole or streamed, takes the same steps: check the quota, obtain the sound, record the
 * serving, and only then hand the audio over. Servings whose callers receive no audio are voided.
 */
export const createDelivery = ({ pipeline, ledger }: DeliveryOptions): WholeDelivery & Streaming => ({
  fromMemory: ({ renditions: [first] }) => pipeline.fromMemory(first),
  fromCache: async ({ renditions: [first] }, signal) => pipeline.fromCache(first, signal),
  obtain: async (plan, context, extent, signal) => {
    if (extent !== "uncertain") await reserveQuota(ledger, plan, context, extent === "part");
    const sound = await pipeline.obtain(plan.renditions, signal, context.principal.apiKey);
    // The client joins parts by their ETag, also those of other instances.
    return extent === "whole" ? sound : await pipeline.asKept(sound, signal);
  },
  record: async (plan, context, sound, partial) => {
    const { signal } = context;
    signal.throwIfAborted();
    const receipt = await recorded(ledger, plan, context, sound, partial ? { partial } : {});
    if (signal.aborted) ledger.voidServing(receipt);
    signal.throwIfAborted();
    return receipt.serving.characters;
  },
  recordWhole: (plan, principal, requestId, sound, done) => {
    ledger.record(principal, servedAudio(plan, requestId, sound), done);
  },
  voidServing: (receipt) => ledger.voidServing(receipt),
  requireProvider,
  begin: async (plan, context, signal) => {
    await reserveQuota(ledger, plan, context, false);
    return await beginStream({ pipeline, ledger }, plan, context, signal);
  },
});

const reserveQuota = (
  ledger: Ledger,
  { renditions, characters }: SynthesisPlan,
  { principal, requestId, idempotency }: RequestContext,
  partial: boolean,
): Promise<void> => {
  const hashes = renditions.map(({ hash }) => hash);
  return ledger.reserveQuota(principal, { requestId, hashes, characters, partial, idempotency });
};

/** How the sound is delivered, as the ledger records it. */
type Delivered = Pick<NewServing, "partial" | "stream">;

/** On the path of every cached GET: optional members are added only where they exist. */
const servedAudio = (
  { characters }: SynthesisPlan,
  requestId: string,
  { rendition: { recipe, hash, voice }, provenance, failed }: Sound | StreamedSound,
): NewServing => {
  const { engine, lang, format } = recipe;
  const served = { requestId, hash, characters, engine, voice, lang, format, cached: provenance };
  return failed.length > 0 ? { ...served, failed } : served;
};

const recorded = (
  ledger: Ledger,
  plan: SynthesisPlan,
  { principal, requestId, idempotency }: RequestContext,
  sound: Sound | StreamedSound,
  delivered: Delivered,
): Promise<Receipt> => {
  const served = { ...servedAudio(plan, requestId, sound), ...delivered };
  return new Promise((resolve, reject) =>
    ledger.record(principal, idempotency ? { ...served, idempotency } : served, (error, receipt) =>
      receipt ? resolve(receipt) : reject(error),
    ),
  );
};

const beginStream = async (
  { pipeline, ledger }: DeliveryOptions,
  plan: SynthesisPlan,
  context: StreamContext,
  signal: AbortSignal,
): Promise<SynthesisStream> => {
  const synthesis = new AbortController();
  const signals = AbortSignal.any([signal, synthesis.signal]);
  const sound = await pipeline.stream(plan.renditions, signals, context.principal.apiKey);
  const receipt = await recorded(ledger, plan, context, sound, { stream: context.kind }).catch((error) => {
    synthesis.abort(error);
    throw error;
  });
  const { rendition, provenance, memory } = sound;
  let hasDelivered = false;
  const audio = meterStream(sound.audio, signal, (outcome) => {
    synthesis.abort(streamEnded);
    ledger.recordStreamEnd(receipt, { hash: rendition.hash, ...outcome });
    if (!hasDelivered) ledger.voidServing(receipt);
  });
  signal.throwIfAborted();
  return {
    rendition,
    contentType: formats[rendition.recipe.format].mimeType,
    prosodyApplied: rendition.recipe.applied,
    provenance,
    characters: receipt.serving.characters,
    audio,
    memory,
    delivered: () => {
      hasDelivered = true;
    },
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
