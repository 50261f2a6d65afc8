import { withDeadline, withStartDeadline } from "../../async/deadline.ts";
import { createScheduler, type Scheduler } from "../../async/scheduler/scheduler.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { AudioSource } from "../../domain/ledger/journal/serving.ts";
import { marksName } from "../../domain/synthesis/marks.ts";
import type { SpokenPhoneme } from "../../domain/synthesis/phonemes.ts";
import { withoutSizes } from "../formats/containers.ts";
import type { AudioContent, AudioName, AudioStore } from "../store/audio-store.ts";
import { type Audio, audioOf, type KnownAudio, type Rendition } from "./audio.ts";
import { type AudioReads, createAudioReads } from "./audio-reads.ts";
import { Fallbacks, type RenditionResult } from "./fallbacks.ts";
import { type EngineJob, InFlightSyntheses, type OnEngineJob, type Wanted } from "./in-flight-syntheses.ts";
import { type Log, quiet } from "./log.ts";
import { Lookup, orUndefined } from "./lookup.ts";
import type { MemoryCache } from "./memory-cache.ts";
import { type PipelineLimits, pipelineLimits } from "./pipeline-limits.ts";
import { createRenderer, type RendererOptions } from "./renderer.ts";
import type { AudioMemory, SharedStream } from "./shared-stream.ts";
import { createStoreReader } from "./store-reader.ts";
import { StoreWriter, type StoreWriterStats } from "./store-writer.ts";

export type { Audio, AudioMemory, EngineJob, KnownAudio, OnEngineJob, Rendition };

/** Audio whose first bytes are available. */
export interface StreamedAudio {
  readonly rendition: Rendition;
  /** System voices of the renditions that failed before this one. */
  readonly failed: readonly string[];
  readonly source: AudioSource;
  /**
   * The audio from its first byte, at the reader's pace. It can be read once. Chunks are shared: do
   * not modify them. Its header never has a length, even if the length is known, so that all
   * streams of the same audio have the same bytes. A synthesis ends when its last reader has ended
   * the iteration.
   * @throws {EngineFailed} {Unavailable} midway: the audio is incomplete
   */
  readonly audio: AsyncIterable<Buffer>;
  /** The memory that the reader of the audio holds. */
  readonly memory: AudioMemory;
}

/**
 * Looks for the audio of a recipe in memory, then in the store, and then has it spoken by an
 * engine. At most one synthesis runs per object.
 */
export interface Pipeline extends AudioReads {
  /**
   * The audio of the first rendition that succeeds. Each rendition has its own hash and object. A
   * failed rendition of a free engine is not retried for a few seconds. The synthesis waits in the
   * queue of `apiKey`; without a key, in a queue of its own.
   * @throws {EngineFailed} all renditions failed: the failure of the first
   * @throws {Invalid} the text contains nothing that can be spoken, or that the first voice can
   * pronounce
   * @throws {Unavailable} the pipeline is overloaded, or the audio did not begin in time, or was
   * not complete in time
   */
  obtain(
    renditions: readonly Rendition[],
    signal: AbortSignal,
    apiKey?: string,
    onEngineJob?: OnEngineJob,
  ): Promise<Audio>;
  /**
   * Resolves with the same audio, but with the bytes that the store keeps. If the engine is not
   * deterministic, another instance may have stored other bytes before. In this case the call waits
   * until the audio is written, for a limited time. Without a response from the store, the audio is
   * unchanged.
   */
  asKept(audio: Audio, signal: AbortSignal): Promise<Audio>;
  /**
   * Like `obtain`, but resolves with the first bytes of a rendition. A later failure ends the
   * stream: no other rendition is tried. Concurrent callers share the synthesis.
   * @throws as `obtain`
   */
  stream(
    renditions: readonly Rendition[],
    signal: AbortSignal,
    apiKey?: string,
    onEngineJob?: OnEngineJob,
  ): Promise<StreamedAudio>;
  /** The audio, if it is in memory. */
  fromMemory(rendition: Rendition): Audio | undefined;
  /** The audio from memory or store, without synthesis. An unavailable store counts as empty. */
  fromCache(rendition: Rendition, signal: AbortSignal): Promise<Audio | undefined>;
  /** The facts about the audio that `fromCache` returns. Its bytes are not read. */
  statRendition(rendition: Rendition, signal: AbortSignal): Promise<KnownAudio | undefined>;
  /**
   * Resolves with the object from memory or from the store. If the object is being written, the
   * call waits like `asKept`.
   * @throws {Unavailable} the store cannot be read
   */
  getAudio(name: AudioName, signal: AbortSignal): Promise<AudioContent | undefined>;
  /**
   * Resolves with the times of the phonemes in the audio; with none if its voice does not report
   * them. The times are not stored, so the voice speaks the text again. `onBegin`: called when its
   * engine begins to work.
   * @throws as `obtain`
   */
  phonemes(
    rendition: Rendition,
    wanted: { readonly apiKey: string; readonly onBegin: () => void },
    signal: AbortSignal,
  ): Promise<readonly SpokenPhoneme[]>;
  /**
   * Called when a hash was deleted. Removes everything under the hash from memory, and from the
   * store what is still being written.
   */
  forget(hash: string): void;
  /** True while the object is synthesized or waits to be written. */
  isInUse(name: AudioName): boolean;
  /** Called at shutdown: see `StoreWriter.drain`. */
  drain(timeoutMs: number): Promise<number>;
  stats(): PipelineStats;
}

export interface PipelineStats {
  /** Results of `obtain` and `stream` since the start. */
  readonly results: Readonly<Record<AudioSource, number>>;
  /** Failed renditions since the start. */
  readonly failures: number;
  readonly inFlight: number;
  readonly memory: ReturnType<MemoryCache["stats"]>;
  readonly writes: StoreWriterStats;
  readonly storeReads: "closed" | "open";
}

export interface PipelineOptions extends Pick<RendererOptions, "engines" | "encoder" | "decoder"> {
  readonly store: AudioStore;
  readonly cache: MemoryCache;
  readonly time?: Time;
  readonly log?: Log;
  /** Limits the concurrent syntheses. Default: a scheduler of its own. */
  readonly scheduler?: Scheduler;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
  readonly limits?: Partial<PipelineLimits>;
  /** Called when audio is about to be stored under its name, after its synthesis or a move. */
  readonly onStored?: (audio: Pick<Rendition, "hash" | "recipe">) => void;
  /** False while instances may run that know only the former names of audio. Default: true. */
  readonly isUpgraded?: () => boolean;
}

export const createPipeline = (parts: PipelineOptions): Pipeline => {
  const components = assemble(parts);
  const { cache, time, limits, reader, writer, synthesesInFlight } = components;
  const lookup = new Lookup(components);
  const fallbacks = new Fallbacks();
  const onTimeout = () => new Unavailable("The audio was not ready in time.", 5);
  const toBegin = { time, ms: limits.beginMs, onTimeout };
  const toEnd = { time, ms: limits.completeMs, onTimeout };

  const firstOf = <T>(
    renditions: readonly Rendition[],
    wanted: Wanted,
    signal: AbortSignal,
    read: (audio: SharedStream) => Promise<T>,
  ): Promise<RenditionResult<T>> =>
    fallbacks.first(renditions, (rendition) => lookup.obtain(rendition, wanted, signal, read));

  return {
    obtain: async (renditions, signal, apiKey, onEngineJob) => {
      const wanted = { progressive: false, apiKey, onEngineJob };
      const { rendition, got, source, failed } = await withDeadline({ ...toEnd, signal }, (within) =>
        withStartDeadline({ ...toBegin, signal: within }, (both, begun) =>
          firstOf(renditions, wanted, both, (audio) => audio.readAll(both, begun)),
        ),
      );
      return audioOf(rendition, got, source, failed);
    },
    stream: async (renditions, signal, apiKey, onEngineJob) => {
      const wanted = { progressive: true, apiKey, onEngineJob };
      const { got, ...rest } = await withStartDeadline({ ...toBegin, signal }, (either) =>
        firstOf(renditions, wanted, either, async (shared) => ({
          audio: await shared.read(either),
          memory: shared.memory,
        })),
      );
      const audio = withoutSizes(rest.rendition.recipe.format, got.audio);
      return { ...rest, ...got, audio };
    },
    fromMemory: (rendition) => {
      const audio = lookup.cached(rendition.name);
      return audio && audioOf(rendition, audio, "memory");
    },
    fromCache: async (rendition, signal) => {
      const audio = lookup.cached(rendition.name);
      if (audio) return audioOf(rendition, audio, "memory");
      const stored = await lookup.fromStore(rendition, signal);
      return stored && audioOf(rendition, stored, "store");
    },
    statRendition: async (rendition, signal) => {
      const audio = lookup.cached(rendition.name);
      if (audio) return { rendition, source: "memory", size: audio.bytes.length, length: audio.length };
      const stored = await lookup.statStored(rendition, signal);
      return stored && { rendition, source: "store", size: stored.size, length: stored.length };
    },
    ...keptReads({ ...components, lookup, onTimeout }),
    phonemes: (rendition, wanted, signal) =>
      withDeadline({ ...toEnd, signal }, (both) => synthesesInFlight.phonemes(rendition, wanted, both)),
    forget: (hash) => {
      cache.forget(hash);
      writer.forget(hash);
      lookup.forget(hash);
    },
    isInUse: (name) => synthesesInFlight.has(name) || writer.pending(name) !== undefined,
    drain: (timeoutMs) => writer.drain(timeoutMs),
    stats: () => ({
      results: { ...fallbacks.results },
      ...synthesesInFlight.stats(),
      memory: cache.stats(),
      writes: writer.stats(),
      storeReads: reader.breaker(),
    }),
  };
};

/**
 * Composes the reads that wait for the write of audio whose bytes may differ from those that the
 * store keeps.
 */
const keptReads = ({
  lookup,
  onTimeout,
  ...components
}: ReturnType<typeof assemble> & {
  readonly lookup: Lookup;
  readonly onTimeout: () => Error;
}): Pick<Pipeline, "asKept" | "getAudio" | keyof AudioReads> => {
  const { time, limits, writer } = components;
  const untilWritten = async (name: AudioName, signal: AbortSignal): Promise<void> => {
    if (!writer.mayDiffer(name)) return;
    const within = { time, ms: limits.keptMs, onTimeout, signal };
    await withDeadline(within, () => writer.written(name)).catch(() => signal.throwIfAborted());
  };
  const getAudio: Pipeline["getAudio"] = async (name, signal) => {
    await untilWritten(name, signal);
    return lookup.cached(name) ?? (await lookup.audioFromStore(name, signal));
  };
  return {
    ...createAudioReads({ ...components, cached: (name) => lookup.cached(name), untilWritten }),
    getAudio,
    asKept: async (audio, signal) => {
      const { rendition, name, source, failed } = audio;
      if (source === "store") return audio;
      const kept = await getAudio(name, signal).catch(() => signal.throwIfAborted());
      return kept ? audioOf(rendition, kept, source, failed) : audio;
    },
  };
};

const assemble = (parts: PipelineOptions) => {
  const { engines, encoder, decoder, store, cache } = parts;
  const { time = systemTime, log = quiet, random = Math.random, isUpgraded = () => true } = parts;
  const { onStored = () => {} } = parts;
  const { scheduler = createScheduler({ time }) } = parts;
  const limits = { ...pipelineLimits, ...parts.limits };
  const reader = createStoreReader({ ...limits, store, time, log });
  const onKept = (name: AudioName, kept: AudioContent): void => cache.set(name, kept);
  const writer = new StoreWriter({ ...limits, store, time, log, random, onKept });
  const renderer = createRenderer({
    ...{ engines, encoder, maxAudioBytes: limits.audioBytes },
    ...(decoder && { decoder }),
  });
  const synthesesInFlight = new InFlightSyntheses({
    renderer,
    recheck: (name, signal) => orUndefined(reader.read(name, signal)),
    time,
    limits,
    log,
    scheduler,
    onFinished: (rendition, audio, how, { marks, mayDiffer = false }) => {
      const { name } = rendition;
      if (marks) {
        // Marks are written first, so that stored audio always has its marks. Readers of the marks
        // do not wait for this write: the marks belong to the audio that was in memory a moment
        // ago.
        const content = { bytes: marks, length: audio.length };
        cache.set(marksName(name), content);
        writer.put(marksName(name), content);
      }
      cache.set(name, audio);
      if (how !== "made") return;
      writer.put(name, audio, { mayDiffer });
      onStored(rendition);
    },
  });
  return { store, cache, time, limits, reader, writer, synthesesInFlight, isUpgraded, onStored };
};
