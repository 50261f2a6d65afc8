import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { EncodedFormat } from "../../../domain/synthesis/formats.ts";
import { compileCache } from "../../compile-cache.ts";
import { ToolFailed } from "../../tools.ts";
import type { CodecOptions } from "./encoding.ts";
import type { ThreadOptions, ThreadRequest, ThreadResponse } from "./thread.ts";
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
   * Resolves with what is complete, or with nothing. One call at a time.
   * @throws {ToolFailed} also after `close`
   */
  encode(pcm: Buffer, isLast: boolean): Promise<Buffer>;
  /** Ends it, and the call that is running. */
  close(): void;
}

/**
 * Threads that encode with libraries: for short responses and for long ones as many as there are
 * cores, each started when all of its kind are in use.
 */
export const createEncodingThreads = (codecs: CodecOptions, most = availableParallelism()) => {
  const kinds = { short: new Set<Thread>(), long: new Set<Thread>() };
  let audios = 0;
  const kindOf = (lowPriority: boolean) => (lowPriority ? kinds.long : kinds.short);
  const start = (lowPriority: boolean): Thread => {
    const threads = kindOf(lowPriority);
    const thread = startThread({ ...codecs, lowPriority }, () => threads.delete(thread));
    threads.add(thread);
    return thread;
  };
  return {
    /** Starts a thread if there is none of its kind. */
    prepare: (lowPriority: boolean): void => {
      if (kindOf(lowPriority).size === 0) start(lowPriority);
    },
    /** Begins an audio. */
    open: ({ lowPriority, ...spec }: AudioSpec): ThreadEncoding => {
      const threads = kindOf(lowPriority);
      const [least] = [...threads].sort((a, b) => a.load() - b.load());
      const isFree = least && (least.load() === 0 || threads.size === most);
      const thread = isFree ? least : start(lowPriority);
      return thread.open(audios++, spec);
    },
  };
};

interface Thread {
  /** How many audios it encodes now. */
  load(): number;
  open(audio: number, spec: Pick<AudioSpec, "format" | "sampleRate">): ThreadEncoding;
}

const startThread = (options: ThreadOptions, onEnd: () => void): Thread => {
  const worker = new Worker(new URL("./thread.ts", import.meta.url), {
    name: options.lowPriority ? "encoder-long" : "encoder-short",
    workerData: options,
    env: { ...process.env, ...compileCache() },
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 64 },
  });
  worker.unref();
  const waiting = new Map<number, (response: ThreadResponse) => void>();
  const open = new Set<number>();
  let hasEnded = false;
  const ask = (request: EncodeRequest): Promise<ThreadResponse> =>
    new Promise((resolve) => {
      if (hasEnded) return resolve(endOf(request.audio));
      waiting.set(request.audio, resolve);
      worker.postMessage(request satisfies ThreadRequest, [request.pcm.buffer]);
    });
  const respond = (response: ThreadResponse): void => {
    const resolve = waiting.get(response.audio);
    waiting.delete(response.audio);
    resolve?.(response);
  };
  worker.on("message", respond);
  worker.on("error", () => undefined); // it ends
  worker.on("exit", () => {
    hasEnded = true;
    onEnd();
    for (const audio of waiting.keys()) respond(endOf(audio));
  });

  const thread: Thread = {
    load: () => open.size,
    open: (audio, spec) => {
      open.add(audio);
      let isFirst = true;
      return {
        encode: async (samples, isLast) => {
          if (!open.has(audio)) throw new ToolFailed("killed", "The encoder was stopped.");
          const pcm = new Uint8Array(samples); // of its own memory, which is handed over
          const response = ask({ ...spec, audio, pcm, isFirst, isLast });
          isFirst = false;
          const { bytes, failure } = await response;
          if (failure !== undefined) throw new ToolFailed("exit", `The encoder failed: ${failure}`);
          return Buffer.from(bytes.buffer);
        },
        close: () => {
          if (!open.delete(audio)) return;
          respond(endOf(audio));
          worker.postMessage({ audio } satisfies ThreadRequest);
        },
      };
    },
  };
  return thread;
};

const endOf = (audio: number): ThreadResponse => ({ audio, failure: "It was stopped." });
