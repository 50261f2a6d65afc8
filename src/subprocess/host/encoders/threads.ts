import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { backgroundTime, type Time } from "../../../async/time.ts";
import { errorMessage } from "../../../domain/errors.ts";
import type { EncodedFormat } from "../../../domain/synthesis/formats.ts";
import { compileCache } from "../../compile-cache.ts";
import { ToolFailed } from "../../tools.ts";
import { exitFailure } from "../exit-failure.ts";
import type { CodecOptions } from "./encoding.ts";
import type { ThreadLoaded, ThreadOptions, ThreadRequest, ThreadResponse } from "./thread.ts";
import type { EncodeRequest } from "./thread-audios.ts";

export interface AudioSpec {
  readonly format: EncodedFormat;
  readonly sampleRate: number;
  /** True for long responses: short ones are more urgent. */
  readonly lowPriority: boolean;
}

/** The encoding of one audio by a thread. */
export interface ThreadEncoding {
  /**
   * Encodes a part. Resolves with the bytes that are complete by now, perhaps none. Only one call
   * may be in progress.
   * @throws {ToolFailed} also after `close`
   */
  encode(pcm: Buffer, isLast: boolean): Promise<Buffer>;
  /** Ends the encoding, and the call that is in progress. */
  close(): void;
}

/**
 * A part of an audio takes milliseconds, or a second on a busy machine. A thread that does not
 * respond for this long after its audio was closed is stuck in a library.
 */
const stuckMs = 15_000;

/** If this many threads end within a minute, the next one would probably end too. */
const maxEnds = { count: 3, withinMs: 60_000 };

interface ThreadsOptions {
  /** The largest number of threads of a kind. Default: the number of cores. */
  readonly most?: number;
  /**
   * Called when a thread is stuck. `Worker.terminate` does not interrupt native code, and the
   * process cannot exit before the thread does: only a signal ends it.
   */
  readonly onStuck?: () => void;
  readonly time?: Time;
  /** The program of a thread. */
  readonly program?: URL;
}

/**
 * Encodes with libraries, in threads. For short responses there are at most as many threads as
 * cores, and as many again for long responses. A thread is started when all others of its kind are
 * in use.
 */
export const createEncodingThreads = (codecs: CodecOptions, options: ThreadsOptions = {}) => {
  const { most = availableParallelism(), time = backgroundTime } = options;
  const kinds = { short: new Set<Thread>(), long: new Set<Thread>() };
  let audios = 0;
  /** The times at which the last threads ended by themselves. */
  const ends: number[] = [];
  const areUsable = (): boolean => {
    const [first = 0] = ends;
    return ends.length < maxEnds.count || time.now() - first >= maxEnds.withinMs;
  };
  const kindOf = (lowPriority: boolean) => (lowPriority ? kinds.long : kinds.short);
  const start = (lowPriority: boolean): Thread => {
    const threads = kindOf(lowPriority);
    const thread = startThread({ ...codecs, lowPriority }, options, () => {
      threads.delete(thread);
      ends.push(time.now());
      if (ends.length > maxEnds.count) ends.shift();
    });
    threads.add(thread);
    return thread;
  };
  return {
    /** False while threads end again and again: meanwhile, processes of ffmpeg must encode. */
    areUsable,
    /** Starts a thread if there is none of its kind. */
    prepare: (lowPriority: boolean): void => {
      if (areUsable() && kindOf(lowPriority).size === 0) start(lowPriority);
    },
    /** Begins an audio. */
    open: ({ lowPriority, ...spec }: AudioSpec): ThreadEncoding => {
      const threads = kindOf(lowPriority);
      const [least] = [...threads].sort((a, b) => a.load() - b.load());
      const isFree = least && (least.load() === 0 || threads.size === most);
      const thread = isFree ? least : start(lowPriority);
      return thread.open(audios++, spec);
    },
    /**
     * True while a thread may load libraries or be in a call of one. `process.exit` fails in koffi
     * while it is loaded, and waits for a call.
     */
    useLibraries: (): boolean => [...kinds.short, ...kinds.long].some((thread) => thread.usesLibraries()),
  };
};

interface Thread {
  /** The number of audios that it encodes now, or has not stopped encoding. */
  load(): number;
  usesLibraries(): boolean;
  open(audio: number, spec: Pick<AudioSpec, "format" | "sampleRate">): ThreadEncoding;
}

const startThread = (
  threadOptions: ThreadOptions,
  { onStuck, time = backgroundTime, program = new URL("./thread.ts", import.meta.url) }: ThreadsOptions,
  onEnd: () => void,
): Thread => {
  const worker = new Worker(program, {
    name: threadOptions.lowPriority ? "encoder-long" : "encoder-short",
    workerData: threadOptions,
    env: { ...process.env, ...compileCache() },
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
  });
  worker.unref();
  const waiting = new Map<number, PromiseWithResolvers<Buffer>>();
  const open = new Set<number>();
  /**
   * The closed audios whose last part has no response yet, with functions that end the wait for it.
   */
  const late = new Map<number, () => void>();
  let ended: ToolFailed | undefined;
  let cause = "It has exited.";
  let isLoading = true;

  worker.on("message", (message: ThreadLoaded | ThreadResponse) => {
    isLoading = false;
    if (message === "loaded") return;
    const { audio, bytes, failure } = message;
    late.get(audio)?.();
    late.delete(audio);
    const call = waiting.get(audio);
    waiting.delete(audio);
    if (failure === undefined) call?.resolve(Buffer.from(bytes.buffer));
    else call?.reject(new ToolFailed("exit", `The encoder failed: ${failure}`));
  });
  worker.on("error", (error) => {
    cause = errorMessage(error);
  });
  worker.on("exit", () => {
    const { message } = exitFailure("The encoder's thread", cause);
    ended = new ToolFailed("killed", message); // no fault of the audio: it may be restarted
    onEnd();
    for (const stopWaiting of late.values()) stopWaiting();
    for (const call of waiting.values()) call.reject(ended);
  });

  const ask = (request: EncodeRequest): Promise<Buffer> => {
    if (ended) throw ended;
    const call = Promise.withResolvers<Buffer>();
    waiting.set(request.audio, call);
    worker.postMessage(request satisfies ThreadRequest, [request.pcm.buffer]);
    return call.promise;
  };
  const close = (audio: number): void => {
    if (!open.delete(audio)) return;
    const call = waiting.get(audio);
    waiting.delete(audio);
    call?.reject(stopped);
    if (ended) return;
    if (call)
      late.set(
        audio,
        time.after(stuckMs, () => onStuck?.()),
      );
    worker.postMessage({ audio } satisfies ThreadRequest);
  };

  return {
    load: () => open.size + late.size,
    usesLibraries: () => isLoading || waiting.size + late.size > 0,
    open: (audio, spec) => {
      open.add(audio);
      let isFirst = true;
      return {
        encode: async (samples, isLast) => {
          if (!open.has(audio)) throw stopped;
          const pcm = new Uint8Array(samples); // a copy, whose memory is transferred
          const bytes = ask({ ...spec, audio, pcm, isFirst, isLast });
          isFirst = false;
          return bytes;
        },
        close: () => close(audio),
      };
    },
  };
};

const stopped = new ToolFailed("killed", "The encoder was stopped.");
