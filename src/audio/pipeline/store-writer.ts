import pLimit from "p-limit";
import type { Clock } from "../../async/clock.ts";
import { withDeadline } from "../../async/deadline.ts";
import { exponentialBackoff, sleep } from "../../async/retry.ts";
import { type AudioStore, AudioStoreUnavailable, type ObjectName } from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";

/** Writes in the background. */
export interface StoreWriter {
  /**
   * Queues the object. `pending` returns it until it is stored or dropped. Objects beyond the limit on pending bytes
   * are dropped and logged: they can be synthesized again.
   */
  put(name: ObjectName, bytes: Buffer): void;
  pending(name: ObjectName): Buffer | undefined;
  /**
   * Shutdown: waits until everything is written, at most `timeoutMs`, then drops the rest and accepts no more.
   * Resolves with the number of dropped objects.
   */
  drain(timeoutMs: number): Promise<number>;
  stats(): StoreWriterStats;
}

export interface StoreWriterStats {
  readonly pendingObjects: number;
  readonly pendingBytes: number;
  /** Since the start: */
  readonly written: number;
  readonly retried: number;
  /** Dropped: too much was pending, the retries ended, or at shutdown. */
  readonly lost: number;
}

export interface StoreWriterOptions {
  readonly store: AudioStore;
  readonly clock: Clock;
  readonly log: Log;
  /** 0 to 1. */
  readonly random: () => number;
  readonly maxPendingBytes: number;
  readonly concurrency: number;
  /** Deadline of one attempt. */
  readonly timeoutMs: number;
  readonly retryForMs: number;
}

const firstPauseMs = 100;
const maxPauseMs = 30_000;
const maxPauseWhileDrainingMs = 250;
/** Memory that a pending object takes in addition to its bytes. */
const entryBytes = 1024;

export const createStoreWriter = (parts: StoreWriterOptions): StoreWriter => {
  const { store, clock, log, random, maxPendingBytes, timeoutMs, retryForMs } = parts;
  const slot = pLimit(parts.concurrency);
  const pending = new Map<ObjectName, { bytes: Buffer; written: Promise<void> }>();
  /** Ends the pauses between attempts. */
  let wakeUp = new AbortController();
  const count = { pendingBytes: 0, written: 0, retried: 0, lost: 0 };
  let isFailing = false;
  let state: "open" | "draining" | "closed" = "open";

  const attempt = (name: ObjectName, bytes: Buffer): Promise<void> => {
    const onTimeout = () => new AudioStoreUnavailable(`The audio store took longer than ${timeoutMs} ms.`);
    return slot(() => withDeadline({ clock, ms: timeoutMs, onTimeout }, () => store.put(name, bytes)));
  };

  const pause = (failures: number): Promise<void> => {
    const maxMs = state === "open" ? maxPauseMs : maxPauseWhileDrainingMs;
    const ms = exponentialBackoff({ firstMs: firstPauseMs, maxMs }, failures, random);
    return sleep(ms, { clock, signal: wakeUp.signal }).catch(() => undefined);
  };

  const wakeAll = (): void => {
    wakeUp.abort();
    wakeUp = new AbortController();
  };

  const reportFailure = (error: unknown): void => {
    if (!isFailing)
      log.warn({ error: loggableMessage(error) }, "The audio store cannot be written; writes are retried.");
    isFailing = true;
  };

  /** If the store accepts one object, it accepts the others. */
  const written = (): void => {
    if (isFailing) log.info({ pending: pending.size }, "The audio store can be written again.");
    isFailing = false;
    count.written++;
    wakeAll();
  };

  const write = async (name: ObjectName, bytes: Buffer): Promise<void> => {
    const giveUpAt = clock.now() + retryForMs;
    for (let failures = 1; ; failures++) {
      try {
        await attempt(name, bytes);
        return written();
      } catch (error) {
        const over = state === "closed" || clock.now() >= giveUpAt;
        if (over || !(error instanceof AudioStoreUnavailable)) throw error;
        reportFailure(error);
      }
      await pause(failures);
      if (state === "closed") throw new AudioStoreUnavailable("The audio store did not recover in time.");
      count.retried++;
    }
  };

  const drop = (name: ObjectName, why: string): void => {
    count.lost++;
    log.warn({ object: name, why }, "An object is not stored.");
  };

  const settle = async (name: ObjectName, bytes: Buffer): Promise<void> => {
    try {
      await write(name, bytes);
    } catch (error) {
      drop(name, loggableMessage(error));
    } finally {
      pending.delete(name);
      count.pendingBytes -= bytes.length + entryBytes;
    }
  };

  return {
    put: (name, bytes) => {
      if (pending.has(name)) return;
      const size = bytes.length + entryBytes;
      if (state === "closed") return drop(name, "the writer is closed");
      if (count.pendingBytes + size > maxPendingBytes) return drop(name, "too much is pending");
      count.pendingBytes += size;
      const entry = { bytes, written: Promise.resolve() };
      pending.set(name, entry);
      entry.written = settle(name, bytes);
    },
    pending: (name) => pending.get(name)?.bytes,
    drain: async (limitMs) => {
      state = "draining";
      wakeAll();
      const allWritten = () => Promise.all([...pending.values()].map(({ written }) => written));
      const onTimeout = () => new Error("The deadline of the shutdown has passed.");
      await withDeadline({ clock, ms: limitMs, onTimeout }, allWritten).catch(() => undefined);
      const left = pending.size;
      state = left === 0 ? "open" : "closed";
      wakeAll();
      return left;
    },
    stats: () => ({ pendingObjects: pending.size, ...count }),
  };
};
