import { untilAborted } from "../async/deadline.ts";
import { inTimeSlices } from "../async/time-slices.ts";
import type { PerKey } from "../domain/accounts/key-numbers.ts";
import {
  type CountedRequests,
  minuteOf,
  rateRetentionSeconds,
  reportRequests,
} from "../domain/ledger/rate.ts";
import type { EpochMs } from "../domain/time.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { uuidv7 } from "../eventstore/uuid.ts";

/** The requests of a key in one minute. */
export interface ReportedCounter {
  readonly apiKey: string;
  readonly keyNumber: number;
  minute: number;
  count: number;
  /** True if the counter is in the list of changed ones. */
  isChanged: boolean;
}

interface RateReportsOptions {
  readonly store: Pick<EventStore, "append" | "setRetention">;
  readonly stream: string;
  readonly clock: () => EpochMs;
  readonly flushMs: number;
  readonly deadlineMs: number;
  /** Called at the first of consecutive failed reports. */
  readonly onError: (what: string, error: unknown) => void;
}

/**
 * An instance without requests reports in every second minute, so that the others know that it
 * runs: `projections/rate.ts` forgets it after five.
 */
const minutesBetweenReports = 2;

/**
 * Reports changed counters regularly to the other instances, and deletes counters that were used
 * neither in this minute nor in the one before.
 */
export class RateReports {
  readonly #counters: PerKey<ReportedCounter>;
  readonly #options: RateReportsOptions;
  #changed: ReportedCounter[] = [];
  #cleanedIn = Number.NaN;
  /** The minute of the last report; before it, that of the start. */
  #reportedIn: number | undefined;
  #isFailing = false;
  #hasRetention = false;
  #flushing: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(counters: PerKey<ReportedCounter>, options: RateReportsOptions) {
    this.#counters = counters;
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), options.flushMs).unref();
  }

  markChanged(counter: ReportedCounter): void {
    if (counter.isChanged) return;
    counter.isChanged = true;
    this.#changed.push(counter);
  }

  /** Concurrent calls share one report. */
  flush(): Promise<void> {
    this.#flushing ??= this.#report().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /** Waits for a report in progress, then reports the last counts. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }

  /** A failed report is repeated by the next flush within the same minute. */
  async #report(): Promise<void> {
    const { clock, deadlineMs, onError } = this.#options;
    const minute = minuteOf(clock());
    // This runs only once a minute, because it visits the counters of all keys.
    if (minute !== this.#cleanedIn) void deleteBefore(this.#counters, minute - 1);
    this.#cleanedIn = minute;
    this.#reportedIn ??= minute;
    const reporting = this.#takeChanged(minute);
    if (reporting.length === 0 && minute < this.#reportedIn + minutesBetweenReports) return;
    try {
      await untilAborted(this.#append(minute, reporting), AbortSignal.timeout(deadlineMs));
      this.#reportedIn = minute;
      this.#isFailing = false;
    } catch (error) {
      for (const counter of reporting) this.markChanged(counter);
      if (!this.#isFailing) onError("requests counted here cannot be reported to the other instances", error);
      this.#isFailing = true;
    }
  }

  /** Returns the counters of this minute that changed since the last call. */
  #takeChanged(minute: number): ReportedCounter[] {
    const taken = this.#changed;
    this.#changed = [];
    for (const counter of taken) counter.isChanged = false;
    return taken.filter((counter) => counter.minute === minute);
  }

  /**
   * Only this instance writes to the stream, and reports are independent: no expected revision is
   * needed.
   */
  async #append(minute: number, counted: readonly CountedRequests[]): Promise<void> {
    const { store, stream, clock } = this.#options;
    const now = clock();
    const metadata = { actor: "system" };
    for (const report of reportRequests(minute, counted, new Date(now).toISOString())) {
      await store.append(stream, [{ id: uuidv7(now), metadata, ...report }], "any");
    }
    if (this.#hasRetention) return;
    await store.setRetention(stream, { maxAgeSeconds: rateRetentionSeconds });
    this.#hasRetention = true;
  }
}

/**
 * Deletes the counters of earlier minutes, in the background, because a report must not wait for
 * this. Never rejects.
 */
const deleteBefore = async (counters: PerKey<ReportedCounter>, minute: number): Promise<void> => {
  for await (const { minute: latest, keyNumber } of inTimeSlices(counters))
    if (latest < minute) counters.set(keyNumber, undefined);
};
