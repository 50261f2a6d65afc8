import type { Pipeline, StreamedSound } from "../../audio/pipeline/pipeline.ts";
import { isByok } from "../../domain/accounts/byok-providers.ts";
import { EngineFailed, NotFound, Unavailable } from "../../domain/errors.ts";
import { formats, type MimeType } from "../../domain/synthesis/formats.ts";
import type { Knob } from "../../domain/synthesis/speech.ts";
import type { Provenance, StreamKind } from "../../domain/usage/usage.ts";
import type { Ledger, Receipt, StreamOutcome } from "../usage/ledger.ts";
import type { RequestContext, SynthesisPlan } from "./synthesis.ts";

export type { StreamKind };

/** A sound on its way: its first bytes are there, and the ledger holds it. */
export interface SynthesisStream {
  readonly contentType: MimeType;
  readonly prosodyApplied: readonly Knob[];
  readonly provenance: Provenance;
  /**
   * The bytes as they come, at the reader's pace; to be read once, from the first on. When the reading ends, however it
   * ends, the ledger is told how much went out. A failure midway throws {EngineFailed} or {Unavailable}.
   */
  readonly audio: AsyncIterable<Buffer>;
  /** To be called when audio is handed to the connection: the serving of a stream that delivered none is voided. */
  readonly delivered: () => void;
}

/** Speech that is heard while it is made: the engines on a website's own credentials alone. */
export interface Streaming {
  /** @throws {NotFound} no engine of the plan streams, even silence */
  requireProvider(plan: SynthesisPlan): void;
  /**
   * Resolves when the first bytes may leave. `signal` ends the stream too, and with the last listener the work upstream.
   * A plan of silence is not for here.
   * @throws {NotFound} no engine of the plan streams
   * @throws {KeyIsSuspended} @throws {EngineFailed} @throws {Unavailable}
   */
  begin(
    plan: SynthesisPlan,
    order: RequestContext & { readonly kind: StreamKind },
    signal: AbortSignal,
  ): Promise<SynthesisStream>;
}

export interface StreamingOptions {
  readonly pipeline: Pick<Pipeline, "stream">;
  readonly ledger: Ledger;
  /** Told of an end that the ledger could not be told of. */
  readonly onError: (what: string, error: unknown) => void;
}

type StreamContext = Parameters<Streaming["begin"]>[1];

export const createStreaming = ({ pipeline, ledger, onError }: StreamingOptions): Streaming => {
  const complete = ({ principal }: StreamContext, receipt: Receipt, ended: StreamOutcome): void => {
    ledger
      .recordStreamEnd(principal, receipt, ended)
      .catch((error) => onError("the end of a stream was not recorded", error));
  };

  return {
    requireProvider,
    begin: async (plan, order, signal) => {
      requireProvider(plan);
      const { characters, renditions } = plan;
      const { principal, requestId, kind, idempotency } = order;
      const prospect = { hashes: renditions.map(({ hash }) => hash), characters, idempotency };
      await ledger.checkQuota(principal, prospect, requestId);
      const life = new AbortController();
      const sound = await pipeline.stream(
        renditions,
        AbortSignal.any([signal, life.signal]),
        principal.apiKey,
      );
      const { rendition, provenance } = sound;
      const receipt = await ledger.record(principal, servedBy(plan, order, sound, kind)).catch((error) => {
        life.abort(error);
        throw error;
      });
      let hasDelivered = false;
      const audio = meterStream(sound.audio, signal, (ended) => {
        life.abort(streamEnded);
        complete(order, receipt, { hash: rendition.hash, ...ended });
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
    },
  };
};

const streamEnded = new Error("The stream has ended.");

/** What is spoken first decides; what it falls back to may be any engine. @throws {NotFound} */
const requireProvider = ({ renditions: [{ recipe }] }: SynthesisPlan): void => {
  if (isByok(recipe.engine)) return;
  throw new NotFound(`There is no streaming provider for the engine ${recipe.engine}.`);
};

const servedBy = (
  { characters }: SynthesisPlan,
  { requestId, idempotency }: StreamContext,
  { rendition: { recipe, hash, voice }, provenance, failed }: StreamedSound,
  stream: StreamKind,
): Parameters<Ledger["record"]>[1] => ({
  requestId,
  hash,
  characters,
  engine: recipe.engine,
  voice,
  lang: recipe.lang,
  format: recipe.format,
  cached: provenance,
  stream,
  ...(idempotency && { idempotency }),
  ...(failed.length > 0 && { failed }),
});

/**
 * Passes the chunks on and tells, once, how it ended: also when the listener's signal is raised before anybody read, or
 * was already. A chunk counts as taken when the next one is asked for.
 */
const meterStream = (
  audio: AsyncIterable<Buffer>,
  signal: AbortSignal,
  onEnd: (ended: Omit<StreamOutcome, "hash">) => void,
): AsyncIterable<Buffer> => {
  let bytes = 0;
  let chunks = 0;
  let ended = false;
  const end = (outcome: StreamOutcome["outcome"]): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener("abort", leave);
    onEnd({ outcome, bytes, chunks });
  };
  const leave = (): void => end("left");
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave);
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
        : interrupted(error);
    } finally {
      end("left");
    }
  })();
};

const interrupted = (cause: unknown): Unavailable => new Unavailable("The stream broke off.", 1, { cause });
