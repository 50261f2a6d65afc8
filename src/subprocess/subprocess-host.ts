import { availableParallelism } from "node:os";
import { withDeadline } from "../async/deadline.ts";
import { createReservedSlot, type ReservedSlot } from "../async/scheduler/reserved-slot.ts";
import type { AcquireOptions } from "../async/scheduler/resource.ts";
import type { Waiter } from "../async/scheduler/waiter.ts";
import { Unavailable } from "../domain/errors.ts";
import { encodedFormats, formats } from "../domain/synthesis/formats.ts";
import type { ForkOptions } from "./host-process.ts";
import type { EspeakJob, JobOf, ModelJob, ToolJob } from "./jobs.ts";
import type { DecoderSpec, EncoderSpec, HostOptions, Limits, PieceSpec, SpeechReport } from "./protocol.ts";
import { isShort, isUrgent, runInSlot, type SlotOptions } from "./run-in-slot.ts";
import { type ModelQueue, Slots, type SlotsOptions } from "./slots.ts";
import { runSpeech, type SpeechOptions } from "./speech/run-speech.ts";
import type { PieceJob, SpeechJob } from "./speech/speech-job.ts";
import { superviseHostProcess, type Warn } from "./supervisor.ts";
import { ToolFailed, type ToolVersions } from "./tools.ts";

type EncoderJob = JobOf<EncoderSpec> & { readonly input: AsyncIterable<Buffer> };
type DecoderJob = JobOf<DecoderSpec> & { readonly input: AsyncIterable<Buffer> };

/**
 * Runs the local tools in one helper process. Output arrives as it is produced and is never empty
 * without an error. A job holds a slot from the first read until its process has exited; its
 * deadline starts with the slot, and is extended by the input of an encoder. Read the output to its
 * end, or abort: an abort kills the tool at once, and the output throws the signal's reason.
 * @throws {ToolFailed} if the tool failed, or the helper process died (the next job gets a new one)
 * @throws {Unavailable} if the queue is full, no slot was free in time, or the host is closed
 */
export interface SubprocessHost {
  /** Versions of the tools found at the start. */
  readonly versions: ToolVersions;
  /**
   * How texts for espeak-ng are spoken: only the library reports events. Undefined if it is not
   * installed.
   */
  readonly espeak: "library" | "command" | undefined;
  run(job: ToolJob, signal: AbortSignal, slotOptions?: SlotOptions): AsyncIterable<Buffer>;
  /**
   * Speaks with espeak-ng. The output is a WAV, which is the same from the library and the command
   * line.
   */
  speak(job: EspeakJob, signal: AbortSignal, slotOptions?: SlotOptions): AsyncIterable<Buffer>;
  /** Speaks with a model, which has processes and a queue of its own. The output is a WAV. */
  speakByModel(job: ModelJob, signal: AbortSignal, slotOptions?: SlotOptions): AsyncIterable<Buffer>;
  /**
   * Speaks a text, and encodes it as it is spoken. Each piece has a slot of its own. Only the job,
   * the audio and the report pass between the service and the helper.
   */
  synthesize(
    job: SpeechJob,
    signal: AbortSignal,
    slotOptions?: SpeechOptions,
  ): AsyncGenerator<Buffer, SpeechReport>;
  /** Encodes samples. `slot`: the slot that was reserved for it. */
  encode(
    job: EncoderJob,
    signal: AbortSignal,
    slotOptions?: SlotOptions,
    slot?: ReservedSlot,
  ): AsyncIterable<Buffer>;
  /** Decodes the audio of a server. */
  decode(job: DecoderJob, signal: AbortSignal, slotOptions?: SlotOptions): AsyncIterable<Buffer>;
  /**
   * Reserves a slot for the encoder of a long response before its first piece is spoken: pieces
   * that wait for an encoder would fill the memory. Resolves with undefined for a short response.
   * @throws {Unavailable} if the queue is full, or no slot was free in time
   * @throws the signal's reason
   */
  reserveEncoder(
    signal: AbortSignal,
    waiter?: Waiter,
    options?: AcquireOptions,
  ): Promise<ReservedSlot | undefined>;
  /**
   * Call it before expensive preparations.
   * @throws {Unavailable} if `run`, or `speakByModel` with this model, would refuse the waiter now
   */
  requireCapacity(waiter: Waiter, model?: ModelQueue): Promise<void>;
  /**
   * Resolves if the helper process responds.
   * @throws {ToolFailed} {Unavailable}
   */
  ping(): Promise<void>;
  stats(): HostStats;
  /** Ends everything: running jobs fail with {Unavailable}. */
  close(): Promise<void>;
}

export interface HostStats {
  readonly running: number;
  readonly queued: number;
  /** Restarts of the helper process. */
  readonly restarts: number;
  /** The process id of the helper; undefined while there is none. */
  readonly pid: number | undefined;
  /** As in the report of the helper process when it is ready. */
  readonly encoderFallback: string | undefined;
}

export interface SubprocessHostOptions extends SlotsOptions {
  /**
   * Concurrent speech tools. Default: 4. If there are several, one is reserved for short texts (see
   * `reserved` of a resource). There are five times as many encoders, because an encoder lives as
   * long as its audio and mostly waits. Two fifths of them are for short texts.
   */
  readonly concurrency?: number;
  /** The helper is killed if it has not ended a job this long after its deadline. Default: 5 s. */
  readonly graceMs?: number;
  /** Called when the helper process ended unexpectedly, and when no other could be started. */
  readonly warn?: Warn;
  /**
   * Idle encoder processes per format, after its first job. Default: as in the table of formats.
   */
  readonly encodersAhead?: HostOptions["encodersAhead"];
  /**
   * The largest number of processes with espeak-ng's library. If there are several, one is reserved
   * for urgent texts. If it is 0, the command line speaks. Default: one per core and at least two,
   * but at most `concurrency`.
   */
  readonly speakers?: number;
  /** If false, ffmpeg encodes, as it does where the libraries are missing. Default: true. */
  readonly encodesByLibrary?: boolean;
  /** See `codecFolder` of `HostOptions`. Default: where the dynamic loader finds libraries. */
  readonly codecFolder?: string;
  /** The PATH on which the tools are found. Default: the usual directories. */
  readonly path?: string;
  /**
   * Starts the helper process, and another one when it has died. Default: a helper of the host's
   * own. If hosts share a helper, `close` of its supervisor must do nothing: `close` of a host then
   * ends the host's jobs without waiting for their processes.
   */
  readonly superviseHelper?: typeof superviseHostProcess;
  /** Ends the helper, also while it starts. */
  readonly signal?: AbortSignal | undefined;
}

/** Shorter than the timeout of health checks. */
const pingMs = 1500;

const defaultConcurrency = 4;

const idleEncoders = Object.fromEntries(
  encodedFormats.map((format) => [format, formats[format].encoder.idle]),
);

const defaults: Limits = { deadlineMs: 30_000, maxOutputBytes: 64 * 1024 * 1024 };

/**
 * A decoder works at the pace of its provider and of its reader. The reader may read a piece of two
 * minutes at half the pace of playback.
 */
const decoderLimits: Partial<Limits> = { deadlineMs: 10 * 60_000 };

/** The first text also waits until its model is loaded. */
const modelLimits: Partial<Limits> = { deadlineMs: 120_000 };

/**
 * An encoder lives until its audio is complete and, except for the read-ahead, delivered. A client
 * that listens takes it at the pace of playback. It may take this long in addition to twice the
 * duration of the audio. Otherwise, clients that read slowly on purpose could block all encoders.
 * ffmpeg limits its own CPU time.
 */
export const streamMs = 5 * 60_000;

/**
 * The same for audio that no client reads before it is complete: only a busy machine delays it.
 * Clients do not wait for this long.
 */
export const completeMs = 11 * 60_000;

/**
 * Returns the request to the helper for a piece. The helper lowers the priority of all pieces but
 * the first.
 */
const specOf = (job: PieceJob): Omit<PieceSpec, "shape"> => {
  if (job.type === "model") {
    const { request, ...model } = job;
    return { job: { ...defaults, ...modelLimits, ...model }, input: JSON.stringify(request) };
  }
  const { input, ...tool } = job;
  return { job: { ...defaults, ...tool, lowPriority: false }, input };
};

/** Returns the options of the helper process of a host. */
export const helperOptions = ({
  concurrency = defaultConcurrency,
  encodersAhead = idleEncoders,
  encodesByLibrary = true,
  codecFolder = "",
  speakers = Math.min(concurrency, Math.max(2, availableParallelism())),
  path = "/usr/local/bin:/usr/bin:/bin",
}: SubprocessHostOptions): ForkOptions => ({
  ...{ path, encodersAhead, speakers },
  codecFolder: encodesByLibrary ? codecFolder : undefined,
});

/** @throws {ToolFailed} when the helper process does not start */
export const openSubprocessHost = async (options: SubprocessHostOptions = {}): Promise<SubprocessHost> => {
  const {
    concurrency = defaultConcurrency,
    graceMs = 5000,
    warn = () => {},
    superviseHelper = superviseHostProcess,
    signal,
  } = options;
  const helper = superviseHelper(helperOptions(options), warn);
  signal?.addEventListener("abort", () => void helper.close(), { once: true });
  const { versions, espeak, encoderFallback } = (await helper.current()).report;
  if (encoderFallback !== undefined) warn(encoderFallback, {});
  const slots = new Slots(concurrency, options);
  const closing = new AbortController();
  const context = { helper, closing: closing.signal, graceMs };

  return {
    versions,
    espeak,
    run: ({ input, ...job }, signal, slotOptions) => {
      const spec = { ...defaults, ...job, type: "tool", lowPriority: !isUrgent(slotOptions) } as const;
      return runInSlot(context, slots.tools, spec, once(input), signal, slotOptions);
    },
    speak: ({ input, onEvents, ...job }, signal, slotOptions) => {
      const spec = { ...defaults, ...job, type: "espeak", lowPriority: !isUrgent(slotOptions) } as const;
      return runInSlot(context, slots.tools, spec, once(input), signal, { ...slotOptions, onEvents });
    },
    speakByModel: ({ request, onEvents, ...job }, signal, slotOptions) => {
      const spec = { ...defaults, ...modelLimits, ...job, type: "model" } as const;
      const input = once(JSON.stringify(request));
      return runInSlot(context, slots.model(job.model), spec, input, signal, { ...slotOptions, onEvents });
    },
    synthesize: (job, signal, slotOptions = {}) => {
      const deadlineMs = job.progressive ? streamMs : completeMs;
      const encoderSlots = isShort(slotOptions.waiter) ? slots.shortEncoders : slots.encoders;
      const limits = { ...defaults, deadlineMs };
      const slotsOf = (job: PieceJob) => (job.type === "model" ? slots.model(job.model) : slots.tools);
      return runSpeech(
        context,
        { speechJob: job, specOf, slotsOf, limits, encoderSlots },
        signal,
        slotOptions,
      );
    },
    encode: ({ input, ...job }, signal, slotOptions, slot) => {
      const short = isShort(slotOptions?.waiter);
      const spec = { ...defaults, ...job, type: "encoder", lowPriority: !short } as const;
      const encoders = short ? slots.shortEncoders : slots.encoders;
      // The encoder is one job for all of the audio, not a job for a piece of it: the encoders of a
      // key get their slots in the order in which they came.
      return runInSlot(context, encoders, spec, input, signal, { ...slotOptions, isFirstPiece: true, slot });
    },
    decode: ({ input, ...job }, signal, slotOptions) => {
      const lowPriority = !isShort(slotOptions?.waiter);
      const spec = { ...defaults, ...decoderLimits, ...job, type: "decoder", lowPriority } as const;
      return runInSlot(context, slots.decoders, spec, input, signal, slotOptions);
    },
    reserveEncoder: async (signal, waiter, options) => {
      if (!waiter || isShort(waiter)) return undefined;
      const either = AbortSignal.any([signal, closing.signal]);
      return createReservedSlot(await slots.encoders.acquire(waiter, either, options));
    },
    requireCapacity: (waiter, model) =>
      (model === undefined ? slots.tools : slots.model(model)).requireCapacity(waiter),
    ping: async () => {
      const onTimeout = () => new ToolFailed("helper", "The process of the speech tools does not respond.");
      await withDeadline({ ms: pingMs, onTimeout }, async () => (await helper.current()).ping());
    },
    stats: () => ({ ...slots.stats(), ...helper.stats() }),
    close: () => {
      closing.abort(new Unavailable("The service is shutting down.", 1));
      return helper.close();
    },
  };
};

async function* once(text: string): AsyncIterable<Buffer> {
  yield Buffer.from(text);
}
