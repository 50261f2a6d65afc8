import { untilAborted } from "../../async/deadline.ts";
import { inTimeSlices } from "../../async/time-slices.ts";
import {
  type CountedRequests,
  minuteOf,
  rateRetentionSeconds,
  reportRequests,
} from "../../domain/ledger/rate.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";

/** The requests of a key in one minute. */
export interface ReportedCounter {
  readonly apiKey: string;
  minute: number;
  count: number;
  /** The last report that includes it, and its place in that report. */
  report: number;
  place: number;
}

export const newCounter = (apiKey: string, minute: number): ReportedCounter => ({
  apiKey,
  minute,
  count: 0,
  report: -1,
  place: 0,
});

/** Counts of one minute that changed since the last report, in columns. A report does not read the counters. */
interface NextReport {
  readonly number: number;
  readonly minute: number;
  readonly keys: string[];
  readonly counts: number[];
}

interface RateReportsOptions {
  readonly store: Pick<EventStore, "append" | "setRetention">;
  readonly stream: string;
  readonly clock: () => number;
  readonly flushMs: number;
  readonly deadlineMs: number;
  /** Called at the first of consecutive failed reports. */
  readonly onError: (what: string, error: unknown) => void;
}

/**
 * Reports changed counters regularly to the other instances, and deletes those that were not used in this minute or the one
 * before.
 */
export class RateReports {
  readonly #counters: Map<string, ReportedCounter>;
  readonly #options: RateReportsOptions;
  #next: NextReport = { number: 0, minute: Number.NaN, keys: [], counts: [] };
  #cleanedIn = Number.NaN;
  #isFailing = false;
  #isTrimmed = false;
  #flushing: Promise<void> | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(counters: Map<string, ReportedCounter>, options: RateReportsOptions) {
    this.#counters = counters;
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), options.flushMs).unref();
  }

  /** Adds the counter's current count to the next report. Counts of an earlier minute are no longer reported. */
  add(counter: ReportedCounter): void {
    if (counter.minute !== this.#next.minute) this.#begin(counter.minute);
    const { number, keys, counts } = this.#next;
    if (counter.report !== number) {
      counter.report = number;
      counter.place = keys.push(counter.apiKey) - 1;
    }
    counts[counter.place] = counter.count;
  }

  #begin(minute: number): void {
    this.#next = { number: this.#next.number + 1, minute, keys: [], counts: [] };
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
    // Once a minute, because there may be a counter for each key.
    if (minute !== this.#cleanedIn) void deleteBefore(this.#counters, minute - 1);
    this.#cleanedIn = minute;
    const reporting = this.#next;
    this.#begin(minute);
    if (reporting.minute !== minute || reporting.keys.length === 0) return;
    try {
      await untilAborted(this.#append(reporting), AbortSignal.timeout(deadlineMs));
      this.#isFailing = false;
    } catch (error) {
      this.#repeat(reporting);
      if (!this.#isFailing) onError("requests counted here cannot be reported to the other instances", error);
      this.#isFailing = true;
    }
  }

  #repeat({ minute, keys }: NextReport): void {
    if (this.#next.minute !== minute) return;
    for (const apiKey of keys) {
      const counter = this.#counters.get(apiKey);
      if (counter?.minute === minute) this.add(counter);
    }
  }

  /** Only this instance writes to the stream, and reports are independent: no expected revision is needed. */
  async #append(counted: CountedRequests): Promise<void> {
    const { store, stream, clock } = this.#options;
    const now = clock();
    const metadata = { actor: "system" };
    for (const report of reportRequests(counted, new Date(now).toISOString())) {
      await store.append(stream, [{ id: uuidv7(now), metadata, ...report }], "any");
    }
    if (this.#isTrimmed) return;
    await store.setRetention(stream, { maxAgeSeconds: rateRetentionSeconds });
    this.#isTrimmed = true;
  }
}

/** In the background, because a report must not wait for it. Never rejects. */
const deleteBefore = async (counters: Map<string, ReportedCounter>, minute: number): Promise<void> => {
  for await (const [apiKey, counter] of inTimeSlices(counters))
    if (counter.minute < minute) counters.delete(apiKey);
};
