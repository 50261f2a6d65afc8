import { withDeadline } from "../../async/deadline.ts";
import { repeatEvery } from "../../async/repeat.ts";
import type { Time } from "../../async/time.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { Seals } from "./seals.ts";

interface SealScheduleOptions {
  readonly seals: Pick<Seals, "sealIfDue">;
  readonly time: Time;
  /** Called with the first failure of several in a row. */
  readonly onError: (what: string, error: unknown) => void;
}

/** A seal is due this long after the last one. */
export const sealIntervalMs = 60 * 60_000;
const checkMs = 60_000;
/** A start does not wait longer for the first seal of a log. */
const firstMs = 1_000;

export type SealSchedule = ReturnType<typeof scheduleSeals>;

/** Seals the log every hour. The first process that notices that a seal is due appends it. */
export const scheduleSeals = ({ seals, time, onError }: SealScheduleOptions) => {
  let hasFailed = false;
  let lastSealedAt: EpochMs | undefined;
  let checking = Promise.resolve();
  const stopped = new AbortController();

  const check = async (intervalMs = sealIntervalMs, signal = stopped.signal): Promise<void> => {
    try {
      lastSealedAt = await seals.sealIfDue(intervalMs, { actor: "system" }, signal);
      hasFailed = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!hasFailed) onError("the log could not be sealed", error);
      hasFailed = true;
    }
  };
  const stop = repeatEvery(checkMs, time, () => {
    checking = check();
    return checking;
  });

  return {
    /**
     * Seals a log that has no seal yet, so that the keys of all later seals lead back to the first
     * key, which auditors may have fetched by then. Lets a key that follows another one seal, too.
     * It never rejects: what fails, or takes too long, is done by the schedule.
     */
    begin: async (): Promise<void> => {
      const onTimeout = () => new Error("the first seal took too long");
      await withDeadline({ time, ms: firstMs, onTimeout, signal: stopped.signal }, (signal) => {
        checking = check(Number.POSITIVE_INFINITY, signal);
        return checking;
      }).catch(() => {});
    },
    /** The time of the last seal of any process; undefined before a check has succeeded. */
    get lastSealedAt(): EpochMs | undefined {
      return lastSealedAt;
    },
    /**
     * A health check.
     * @throws while the log cannot be sealed
     */
    probe: async (): Promise<void> => {
      if (hasFailed) throw new Error("the event log could not be sealed: the service's log says why");
    },
    /**
     * Cancels a seal whose events are still being read: the first seal of a long log can take
     * seconds. Resolves when no seal is in progress.
     */
    stop: async (): Promise<void> => {
      stop();
      stopped.abort();
      await checking;
    },
  };
};
