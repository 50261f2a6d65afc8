import type { Queued } from "../../async/deadline-queue.ts";
import { exponentialBackoff } from "../../async/retry.ts";
import type { Time } from "../../async/time.ts";
import type { Serving, StreamEnd, VoidedServing } from "../../domain/ledger/journal/serving.ts";

export interface PendingServing extends Queued<PendingServing> {
  readonly serving: Serving;
  /** The number of the serving's key. */
  readonly keyNumber: number;
  readonly month: string;
  readonly done: ServingCallback;
  /** True if the deadline has passed, and `done` was called. */
  isExpired: boolean;
}

export type ServingCallback = (error: Error | undefined, at: string) => void;

/**
 * Calls back. Reports an error that the callback throws, so that other callbacks and the next flush
 * run.
 */
export const runReporting = (callback: () => void, onError: (error: unknown) => void): void => {
  try {
    callback();
  } catch (error) {
    onError(error);
  }
};

/** Entries that wait for a flush of a journal. */
export class PendingEntries {
  readonly servings = new PendingItems<PendingServing>();
  readonly voids = new PendingItems<VoidedServing>();
  readonly streams = new PendingItems<StreamEnd>();
  postedUpTo: number | undefined;
  readonly #queues = [this.servings, this.voids, this.streams] as const;
  #listeners: { readonly targets: readonly number[]; readonly resolve: () => void }[] = [];

  get length(): number {
    return this.#queues.reduce((sum, { length }) => sum + length, 0);
  }

  /** The number of voids and ends of streams, for which no request waits. */
  get backgroundEntries(): number {
    return this.voids.length + this.streams.length;
  }

  get isEmpty(): boolean {
    return this.#queues.every(({ length }) => length === 0) && this.postedUpTo === undefined;
  }

  /** Resolves at the first `notifyTaken` after everything that waits now was taken. */
  untilTaken(): Promise<void> {
    const targets = this.#queues.map(({ added }) => added);
    return new Promise((resolve) => this.#listeners.push({ targets, resolve }));
  }

  notifyTaken(): void {
    const isTaken = (targets: readonly number[]) =>
      this.#queues.every(({ taken }, index) => taken >= (targets[index] ?? 0));
    const listeners = this.#listeners;
    this.#listeners = listeners.filter(({ targets }) => !isTaken(targets));
    for (const { targets, resolve } of listeners) if (isTaken(targets)) resolve();
  }
}

const repeatDelayMs = { firstMs: 1_000, maxMs: 60_000 };

/**
 * Entries of a flush that the store has refused with a permanent error. They are repeated alone,
 * because they may be the cause of the error.
 */
class RefusedEntries extends PendingEntries {
  #attempts = 0;
  #isDue = false;

  /** True when the next attempt is due. */
  get isDue(): boolean {
    return this.#isDue && !this.isEmpty;
  }

  refuse(
    { voids, streams, postedUpTo = -1 }: RefusableEntries,
    { time, repeat }: { readonly time: Time; readonly repeat: () => void },
  ): void {
    for (const one of voids) this.voids.add(one);
    for (const end of streams) this.streams.add(end);
    if (postedUpTo >= 0) this.postedUpTo = Math.max(postedUpTo, this.postedUpTo ?? -1);
    this.#isDue = false;
    if (this.isEmpty) return;
    this.#attempts += 1;
    time.after(exponentialBackoff(repeatDelayMs, this.#attempts), () => {
      this.#isDue = true;
      repeat();
    });
  }

  /** Called when the store has accepted a flush. */
  accepted(): void {
    if (this.isEmpty) this.#attempts = 0;
  }
}

/** Entries that wait for the next flush, and entries that the store has refused. */
export class WaitingEntries extends PendingEntries {
  readonly refused = new RefusedEntries();

  override get length(): number {
    return super.length + this.refused.length;
  }

  override get backgroundEntries(): number {
    return super.backgroundEntries + this.refused.backgroundEntries;
  }

  override async untilTaken(): Promise<void> {
    await Promise.all([this.untilSent(), this.refused.untilTaken()]);
  }

  /**
   * Does what `untilTaken` does, but does not wait for refused entries, which may be repeated much
   * later.
   */
  untilSent(): Promise<void> {
    return super.untilTaken();
  }

  override notifyTaken(): void {
    super.notifyTaken();
    this.refused.notifyTaken();
  }
}

interface RefusableEntries {
  readonly voids: readonly VoidedServing[];
  readonly streams: readonly StreamEnd[];
  readonly postedUpTo: number | undefined;
}

/** A queue that counts the items that are added and taken. */
export class PendingItems<T> {
  readonly #waiting: T[] = [];
  #added = 0;

  add(item: T): void {
    this.#added += 1;
    this.#waiting.push(item);
  }

  get first(): T | undefined {
    return this.#waiting[0];
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** The number of items that were ever added. */
  get added(): number {
    return this.#added;
  }

  /** The number of items that were ever taken. */
  get taken(): number {
    return this.#added - this.#waiting.length;
  }

  takeFirst(): T | undefined {
    return this.#waiting.shift();
  }

  /** Takes items from the front as long as `accept` returns true. */
  takeWhile(accept: (item: T) => boolean): T[] {
    const end = this.#waiting.findIndex((item) => !accept(item));
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  takeAll(): T[] {
    return this.#waiting.splice(0);
  }
}
