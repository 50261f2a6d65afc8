import { Worker } from "node:worker_threads";
import { withDeadline } from "../../../async/deadline.ts";
import { backgroundTime, type Time } from "../../../async/time.ts";
import { errorMessage, Unavailable } from "../../../domain/errors.ts";
import type { Replacement } from "../../../domain/text/mapped-text.ts";

/** The recipes of Japanese voices contain this version. */
export const dictionaryVersion = "lindera-ipadic 2.0.0";

export interface ReadingsRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

export interface ReadingsResponse {
  readonly id: number;
  readonly readings: readonly (readonly Replacement[])[];
}

export interface JapaneseReadings {
  /**
   * The kana of each text.
   * @throws {Unavailable} if the dictionary failed or too many texts wait
   * @throws the signal's reason
   */
  read(texts: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly Replacement[]>>;
  close(): Promise<void>;
}

export interface JapaneseReadingsOptions {
  readonly time?: Time;
  /** The worker thread's module. */
  readonly entry?: URL;
  /** Called once. */
  readonly warn?: ((sentence: string) => void) | undefined;
}

/** 5,000 characters take 0.5 s, on a busy machine a few times as long. */
const deadlineMs = 20_000;
const maxWaitingCharacters = 30_000;
/** The worker thread ends after this time without a text, which frees its memory. */
export const idleMs = 5 * 60_000;

interface Waiting {
  readonly characters: number;
  resolve(response: ReadingsResponse): void;
  reject(error: unknown): void;
}

/**
 * Reads with the dictionary in a worker thread, which starts at the first text, and again after it
 * failed.
 */
export const japaneseReadings = ({
  time = backgroundTime,
  entry = new URL("./worker.ts", import.meta.url),
  warn,
}: JapaneseReadingsOptions = {}): JapaneseReadings => {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;
  let isReported = false;
  let cancelIdle = (): void => undefined;

  const end = async (failed: Worker | undefined, cause: unknown): Promise<void> => {
    if (failed === undefined || failed !== worker) return;
    worker = undefined;
    cancelIdle();
    const calls = [...waiting.values()];
    waiting.clear();
    for (const call of calls) call.reject(unavailable(cause));
    await failed.terminate();
  };
  const onFailure = (failed: Worker, cause: unknown): void => {
    if (failed !== worker) return;
    if (!isReported)
      warn?.(`The Japanese dictionary failed, so texts with kanji are refused: ${errorMessage(cause)}`);
    isReported = true;
    void end(failed, cause);
  };
  const start = (): Worker => {
    const started = new Worker(entry, { execArgv: ["--disable-warning=ExperimentalWarning"] });
    started.unref();
    started.on("message", (response: ReadingsResponse) => {
      waiting.get(response.id)?.resolve(response);
      waiting.delete(response.id);
      if (waiting.size === 0) cancelIdle = time.after(idleMs, () => void end(started, idle));
    });
    started.on("error", (error) => onFailure(started, error));
    started.on("messageerror", (error) => onFailure(started, error));
    started.on("exit", (code) => onFailure(started, new Error(`the worker thread ended with ${code}`)));
    return started;
  };
  const ask = (texts: readonly string[], characters: number): Promise<ReadingsResponse> => {
    worker ??= start();
    const asked = worker;
    cancelIdle();
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { characters, resolve, reject });
      asked.postMessage({ id, texts } satisfies ReadingsRequest);
    });
  };

  return {
    read: async (texts, signal) => {
      const characters = texts.reduce((sum, text) => sum + text.length, 0);
      const before = waiting.values().reduce((sum, call) => sum + call.characters, 0);
      if (waiting.size > 0 && before + characters > maxWaitingCharacters)
        throw new Unavailable("Too many Japanese texts are waiting.", 2);
      const onTimeout = (): Error => {
        const error = new Error("it did not respond in time");
        if (worker) onFailure(worker, error);
        return unavailable(error);
      };
      const { readings } = await withDeadline({ time, ms: deadlineMs, onTimeout, signal }, () =>
        ask(texts, characters),
      );
      return new Map(texts.map((text, index) => [text, readings[index] ?? []]));
    },
    close: () => end(worker, closed),
  };
};

const idle = new Error("idle");
const closed = new Error("closed");

const unavailable = (cause: unknown): Unavailable =>
  new Unavailable("The Japanese dictionary is not available.", 2, { cause });
