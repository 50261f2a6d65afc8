import pLimit, { type LimitFunction } from "p-limit";
import { withDeadline } from "../../async/deadline.ts";
import { exponentialBackoff } from "../../async/retry.ts";
import { sleep } from "../../async/sleep.ts";
import type { Time } from "../../async/time.ts";
import { audioNamesOf } from "../../domain/synthesis/recipe.ts";
import {
  type AudioContent,
  type AudioName,
  type AudioStore,
  AudioStoreFull,
  AudioStoreUnavailable,
  hashInName,
} from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";

export type StoreWriterStats = ReturnType<StoreWriter["stats"]>;

export interface StoreWriterOptions
  extends Pick<PipelineLimits, "writeMs" | "retryMs" | "writesAtOnce" | "pendingBytes"> {
  readonly store: AudioStore;
  readonly time: Time;
  readonly log: Log;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  /** Called while the object is pending, if other bytes were stored under its name before. */
  readonly onKept?: (name: AudioName, kept: AudioContent) => void;
}

const firstPauseMs = 100;
const maxPauseMs = 30_000;
const maxPauseWhileDrainingMs = 250;
/** Memory that a pending object takes in addition to its bytes. */
const entryBytes = 1024;

interface Pending {
  readonly audio: AudioContent;
  readonly mayDiffer: boolean;
  readonly former: AudioName | undefined;
  written: Promise<void>;
  /** True if its hash was deleted after it was queued. */
  isDeleted: boolean;
}

/** Writes objects to the store in the background, and retries failed writes. */
export class StoreWriter {
  readonly #options: StoreWriterOptions;
  readonly #limit: LimitFunction;
  readonly #pending = new Map<AudioName, Pending>();
  readonly #count = {
    pendingBytes: 0,
    /** Since the start: */
    written: 0,
    /** The size of the objects that the store did not have before. */
    writtenBytes: 0,
    retried: 0,
    /**
     * Objects that were dropped, because too much was pending, the retries ended, or the service
     * shut down.
     */
    lost: 0,
  };
  /** Ends the pauses between attempts. */
  #wakeUp = new AbortController();
  #pauses = 0;
  #isFailing = false;
  /** True while the store has no space for new objects. */
  #isFull = false;
  #state: "open" | "draining" | "closed" = "open";

  constructor(options: StoreWriterOptions) {
    this.#options = options;
    this.#limit = pLimit(options.writesAtOnce);
  }

  /**
   * Queues the object. `pending` returns it until it is stored or dropped. Objects beyond the limit
   * on pending bytes are dropped and logged: they can be synthesized again. `mayDiffer`: another
   * instance may store other bytes first. `former`: the audio of this name is removed once the
   * object is stored.
   */
  put(
    name: AudioName,
    audio: AudioContent,
    { mayDiffer = false, former }: { mayDiffer?: boolean; former?: AudioName } = {},
  ): void {
    const before = this.#pending.get(name);
    if (before && !before.isDeleted) return;
    const size = audio.bytes.length + entryBytes;
    const isTooMuch = this.#count.pendingBytes + size > this.#options.pendingBytes;
    if (this.#state === "closed") this.#drop(name, "the writer is closed");
    else if (isTooMuch) this.#drop(name, "too much is pending");
    else {
      this.#count.pendingBytes += size;
      const entry = { audio, mayDiffer, former, written: Promise.resolve(), isDeleted: false };
      this.#pending.set(name, entry);
      entry.written = this.#writeOrDrop(name, entry, before?.written);
    }
  }

  /**
   * Called when a hash was deleted. Its pending objects are not written, or, if a write is in
   * progress, are removed afterwards.
   */
  forget(hash: string): void {
    for (const name of audioNamesOf(hash)) {
      const entry = this.#pending.get(name);
      if (entry) entry.isDeleted = true;
    }
  }

  pending(name: AudioName): AudioContent | undefined {
    const entry = this.#pending.get(name);
    return entry?.isDeleted ? undefined : entry?.audio;
  }

  /** True while the object is pending, if the store may keep other bytes under its name. */
  mayDiffer(name: AudioName): boolean {
    return this.pending(name) !== undefined && this.#pending.get(name)?.mayDiffer === true;
  }

  /**
   * Resolves when the object is stored or dropped; at once if it is not pending, or if the store is
   * failing.
   */
  async written(name: AudioName): Promise<void> {
    if (!this.#isFailing) await this.#pending.get(name)?.written;
  }

  /**
   * Called at shutdown. Waits until everything is written, at most for `timeoutMs`. If objects
   * remain, drops them and accepts no more. Resolves with the number of dropped objects.
   */
  async drain(timeoutMs: number): Promise<number> {
    this.#state = "draining";
    this.#wakeAll();
    const allWritten = () => Promise.all([...this.#pending.values()].map(({ written }) => written));
    const onTimeout = () => new Error("The deadline of the shutdown has passed.");
    const { time } = this.#options;
    await withDeadline({ time, ms: timeoutMs, onTimeout }, allWritten).catch(() => undefined);
    const remaining = this.#pending.size;
    this.#state = remaining === 0 ? "open" : "closed";
    this.#wakeAll();
    return remaining;
  }

  stats() {
    return { pendingObjects: this.#pending.size, ...this.#count, isFull: this.#isFull };
  }

  async #writeOrDrop(name: AudioName, entry: Pending, after?: Promise<void>): Promise<void> {
    try {
      await after;
      await this.#write(name, entry);
    } catch (error) {
      this.#drop(name, loggableMessage(error));
    } finally {
      if (this.#pending.get(name) === entry) this.#pending.delete(name);
      this.#count.pendingBytes -= entry.audio.bytes.length + entryBytes;
    }
  }

  async #write(name: AudioName, entry: Pending): Promise<void> {
    const { time, retryMs } = this.#options;
    const giveUpAt = time.now() + retryMs;
    for (let failures = 1; ; failures++) {
      try {
        const kept = await this.#attempt(name, entry);
        if (!kept && !entry.isDeleted) this.#count.writtenBytes += entry.audio.bytes.length;
        if (kept && !entry.isDeleted && !kept.bytes.equals(entry.audio.bytes))
          this.#options.onKept?.(name, kept);
        return this.#succeeded();
      } catch (error) {
        const isOver = this.#state === "closed" || time.now() >= giveUpAt;
        if (isOver || !(error instanceof AudioStoreUnavailable)) throw error;
        this.#reportFailure(error);
      }
      await this.#pause(failures);
      if (this.#state === "closed")
        throw new AudioStoreUnavailable("The audio store did not recover in time.");
      this.#count.retried++;
    }
  }

  /** Resolves with the object that the store had already, if there is one. */
  #attempt(name: AudioName, entry: Pending): Promise<AudioContent | undefined> {
    const { store, time, writeMs: ms } = this.#options;
    const write = async (): Promise<AudioContent | undefined> => {
      const kept = entry.isDeleted ? undefined : await store.put(name, entry.audio);
      for (const gone of [entry.isDeleted ? name : undefined, entry.former]) {
        const hash = gone && hashInName(gone);
        if (hash) await store.remove(hash);
      }
      return kept;
    };
    const onTimeout = () => new AudioStoreUnavailable(`The audio store took longer than ${ms} ms.`);
    return this.#limit(() => withDeadline({ time, ms, onTimeout }, write));
  }

  /** Since the store has accepted an object, the pauses of the other writes end. */
  #succeeded(): void {
    if (this.#isFailing)
      this.#options.log.info({ pending: this.#pending.size }, "The audio store can be written again.");
    this.#isFailing = false;
    this.#isFull = false;
    this.#count.written++;
    this.#wakeAll();
  }

  #reportFailure(error: unknown): void {
    const fields = { error: loggableMessage(error) };
    if (!this.#isFailing)
      this.#options.log.warn(fields, "The audio store cannot be written; writes are retried.");
    this.#isFailing = true;
    this.#isFull = error instanceof AudioStoreFull;
  }

  async #pause(failures: number): Promise<void> {
    const { time, random } = this.#options;
    const maxMs = this.#state === "open" ? maxPauseMs : maxPauseWhileDrainingMs;
    const ms = exponentialBackoff({ firstMs: firstPauseMs, maxMs }, failures, random);
    this.#pauses++;
    await sleep(ms, { time, signal: this.#wakeUp.signal }).catch(() => undefined);
    this.#pauses--;
  }

  #wakeAll(): void {
    if (this.#pauses === 0) return;
    this.#wakeUp.abort();
    this.#wakeUp = new AbortController();
  }

  #drop(name: AudioName, why: string): void {
    this.#count.lost++;
    this.#options.log.warn({ object: name, why }, "An object is not stored.");
  }
}
