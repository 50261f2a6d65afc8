import { extname } from "node:path";
import { type Clock, withDeadline } from "../../async/deadline.ts";
import type { AudioFormat } from "../../domain/synthesis/speech.ts";
import { isTruncated } from "../formats/truncation.ts";
import { type AudioStore, AudioStoreUnavailable, type ObjectName } from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";

/** Reads that nobody has to wait for long. */
export interface StoreReader {
  /** The whole object, or undefined when there is none. @throws {AudioStoreUnavailable} also for a slow store */
  read(name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined>;
  /** `open`: the store is left alone for a while. */
  breaker(): "closed" | "open";
}

export interface StoreReaderOptions {
  readonly store: AudioStore;
  readonly clock: Clock;
  readonly log: Log;
  /** What takes longer counts as failed. */
  readonly timeoutMs: number;
  /** After so many failures in a row reads fail at once, but for one in every `coolingMs` that tries. */
  readonly breaker: { readonly failures: number; readonly coolingMs: number };
}

export const createStoreReader = (parts: StoreReaderOptions): StoreReader => {
  const { store, clock, log, timeoutMs, breaker } = parts;
  let failures = 0;
  let closedAgainAt = 0;

  const broken = (): boolean => failures >= breaker.failures;

  const letThrough = (): void => {
    if (!broken()) return;
    if (clock.now() < closedAgainAt)
      throw new AudioStoreUnavailable("The audio store is left alone for now.");
    closedAgainAt = clock.now() + breaker.coolingMs; // this one tries, the others wait for what it finds
  };

  const succeeded = (): void => {
    if (broken()) log.info({}, "The audio store can be read again.");
    failures = 0;
  };

  const failed = (error: unknown): void => {
    failures++;
    closedAgainAt = clock.now() + breaker.coolingMs;
    log.warn({ error: loggableMessage(error), failures }, "The audio store could not be read.");
  };

  return {
    read: async (name, signal) => {
      letThrough();
      const late = () => new AudioStoreUnavailable(`The audio store did not answer within ${timeoutMs} ms.`);
      try {
        const bytes = await withDeadline({ clock, ms: timeoutMs, late, signal }, (both) =>
          store.get(name, both),
        );
        succeeded();
        if (!bytes || !isTruncated(formatOf(name), bytes)) return bytes;
      } catch (error) {
        if (!signal.aborted && error instanceof AudioStoreUnavailable) failed(error);
        throw error;
      }
      log.warn({ object: name }, "An object in the audio store stops before its end: taken as not there.");
      return undefined;
    },
    breaker: () => (broken() ? "open" : "closed"),
  };
};

const formatOf = (name: ObjectName): AudioFormat => extname(name).slice(1) as AudioFormat;
