import pLimit, { type LimitFunction } from "p-limit";
import type { Clock } from "../../async/clock.ts";
import { withDeadline } from "../../async/deadline.ts";
import { exponentialBackoff, sleep } from "../../async/retry.ts";
import { type AudioStore, AudioStoreUnavailable, type ObjectName } from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";

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

/** Writes in the background. */
export class StoreWriter {
  readonly #options: StoreWriterOptions;
  readonly #limit: LimitFunction;
  readonly #pending = new Map<ObjectName, { bytes: Buffer; written: Promise<void> }>();
  readonly #count = { pendingBytes: 0, written: 0, retried: 0, lost: 0 };
  /** Ends the pauses between attempts. */
  #wakeUp = new AbortController();
  #isFailing = false;
  #state: "open" | "draining" | "closed" = "open";

  constructor(options: StoreWriterOptions) {
    this.#options = options;
    this.#limit = pLimit(options.concurrency);
  }

  /**
   * Queues the object. `pending` returns it until it is stored or dropped. Objects beyond the limit on pending bytes
   * are dropped and logged: they can be synthesized again.
   */
  put(name: ObjectName, bytes: Buffer): void {
    if (this.#pending.has(name)) return;
    const size = bytes.length + entryBytes;
    const isTooMuch = this.#count.pendingBytes + size > this.#options.maxPendingBytes;
    if (this.#state === "closed") this.#drop(name, "the writer is closed");
    else if (isTooMuch) this.#drop(name, "too much is pending");
    else {
      this.#count.pendingBytes += size;
      const entry = { bytes, written: Promise.resolve() };
      this.#pending.set(name, entry);
      entry.written = this.#writeOrDrop(name, bytes);
    }
  }

  pending(name: ObjectName): Buffer | undefined {
    return this.#pending.get(name)?.bytes;
  }

  /**
   * Shutdown: waits until everything is written, at most `timeoutMs`, then drops the rest and accepts no more.
   * Resolves with the number of dropped objects.
   */
  async drain(timeoutMs: number): Promise<number> {
    this.#state = "draining";
    this.#wakeAll();
    const allWritten = () => Promise.all([...this.#pending.values()].map(({ written }) => written));
    const onTimeout = () => new Error("The deadline of the shutdown has passed.");
    const { clock } = this.#options;
    await withDeadline({ clock, ms: timeoutMs, onTimeout }, allWritten).catch(() => undefined);
    const left = this.#pending.size;
    this.#state = left === 0 ? "open" : "closed";
    this.#wakeAll();
    return left;
  }

  stats(): StoreWriterStats {
    return { pendingObjects: this.#pending.size, ...this.#count };
  }

  async #writeOrDrop(name: ObjectName, bytes: Buffer): Promise<void> {
    try {
      await this.#write(name, bytes);
    } catch (error) {
      this.#drop(name, loggableMessage(error));
    } finally {
      this.#pending.delete(name);
      this.#count.pendingBytes -= bytes.length + entryBytes;
    }
  }

  async #write(name: ObjectName, bytes: Buffer): Promise<void> {
    const { clock, retryForMs } = this.#options;
    const giveUpAt = clock.now() + retryForMs;
    for (let failures = 1; ; failures++) {
      try {
        await this.#attempt(name, bytes);
        return this.#succeeded();
      } catch (error) {
        const isOver = this.#state === "closed" || clock.now() >= giveUpAt;
        if (isOver || !(error instanceof AudioStoreUnavailable)) throw error;
        this.#reportFailure(error);
      }
      await this.#pause(failures);
      if (this.#state === "closed")
        throw new AudioStoreUnavailable("The audio store did not recover in time.");
      this.#count.retried++;
    }
  }

  #attempt(name: ObjectName, bytes: Buffer): Promise<void> {
    const { store, clock, timeoutMs: ms } = this.#options;
    const onTimeout = () => new AudioStoreUnavailable(`The audio store took longer than ${ms} ms.`);
    return this.#limit(() => withDeadline({ clock, ms, onTimeout }, () => store.put(name, bytes)));
  }

  /** If the store accepts one object, it accepts the others. */
  #succeeded(): void {
    if (this.#isFailing)
      this.#options.log.info({ pending: this.#pending.size }, "The audio store can be written again.");
    this.#isFailing = false;
    this.#count.written++;
    this.#wakeAll();
  }

  #reportFailure(error: unknown): void {
    const fields = { error: loggableMessage(error) };
    if (!this.#isFailing)
      this.#options.log.warn(fields, "The audio store cannot be written; writes are retried.");
    this.#isFailing = true;
  }

  #pause(failures: number): Promise<void> {
    const { clock, random } = this.#options;
    const maxMs = this.#state === "open" ? maxPauseMs : maxPauseWhileDrainingMs;
    const ms = exponentialBackoff({ firstMs: firstPauseMs, maxMs }, failures, random);
    return sleep(ms, { clock, signal: this.#wakeUp.signal }).catch(() => undefined);
  }

  #wakeAll(): void {
    this.#wakeUp.abort();
    this.#wakeUp = new AbortController();
  }

  #drop(name: ObjectName, why: string): void {
    this.#count.lost++;
    this.#options.log.warn({ object: name, why }, "An object is not stored.");
  }
}
