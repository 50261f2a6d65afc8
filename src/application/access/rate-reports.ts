import { untilAborted } from "../../async/deadline.ts";
import { minuteOf, rateRetentionSeconds, reportRequests } from "../../domain/ledger/rate.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";

/** The requests of a key in one minute. */
export interface ReportedCounter {
  readonly apiKey: string;
  minute: number;
  count: number;
  /** It is in the list of changed counters. */
  isChanged: boolean;
}

interface RateReportsOptions {
  readonly store: Pick<EventStore, "append" | "setRetention">;
  readonly stream: string;
  readonly clock: () => number;
  readonly deadlineMs: number;
  /** Called at the first of consecutive failed reports. */
  readonly onError: (what: string, error: unknown) => void;
}

/** Reports changed counters to the other instances, and deletes those that were not used in this minute or the one before. */
export const createRateReports = (
  counters: Map<string, ReportedCounter>,
  { store, stream, clock, deadlineMs, onError }: RateReportsOptions,
) => {
  let changed: ReportedCounter[] = [];
  let cleanedIn = Number.NaN;
  let isFailing = false;
  let flushing: Promise<void> | undefined;
  const append = createAppend({ store, stream, clock });

  const markChanged = (counter: ReportedCounter): void => {
    if (counter.isChanged) return;
    counter.isChanged = true;
    changed.push(counter);
  };

  /** The counters of this minute that changed since the last call. */
  const takeChanged = (minute: number): ReportedCounter[] => {
    const taken = changed;
    changed = [];
    for (const counter of taken) counter.isChanged = false;
    return taken.filter((counter) => counter.minute === minute);
  };

  /** A failed report is repeated by the next flush within the same minute. */
  const report = async (): Promise<void> => {
    const minute = minuteOf(clock());
    // Once a minute, because there may be a counter for each key.
    if (minute !== cleanedIn) deleteBefore(counters, minute - 1);
    cleanedIn = minute;
    const reporting = takeChanged(minute);
    if (reporting.length === 0) return;
    const counts = reporting.map(({ apiKey, count }): [string, number] => [apiKey, count]);
    try {
      await untilAborted(append(minute, counts), AbortSignal.timeout(deadlineMs));
      isFailing = false;
    } catch (error) {
      for (const counter of reporting) markChanged(counter);
      if (!isFailing) onError("requests counted here cannot be reported to the other instances", error);
      isFailing = true;
    }
  };

  /** Concurrent calls share one report. */
  const flush = (): Promise<void> => {
    flushing ??= report().finally(() => {
      flushing = undefined;
    });
    return flushing;
  };

  /** Waits for a report in progress, then reports the last counts. */
  const close = async (): Promise<void> => {
    await flushing;
    await flush();
  };

  return { markChanged, flush, close };
};

const deleteBefore = (counters: Map<string, ReportedCounter>, minute: number): void => {
  for (const [apiKey, counter] of counters) if (counter.minute < minute) counters.delete(apiKey);
};

/** Only this instance writes to the stream, and reports are independent: no expected revision is needed. */
const createAppend = ({ store, stream, clock }: Pick<RateReportsOptions, "store" | "stream" | "clock">) => {
  let isTrimmed = false;
  return async (minute: number, counts: readonly [string, number][]): Promise<void> => {
    const now = clock();
    const metadata = { actor: "system" };
    for (const report of reportRequests(minute, counts, new Date(now).toISOString())) {
      await store.append(stream, [{ id: uuidv7(now), metadata, ...report }], "any");
    }
    if (isTrimmed) return;
    await store.setRetention(stream, { maxAgeSeconds: rateRetentionSeconds });
    isTrimmed = true;
  };
};
