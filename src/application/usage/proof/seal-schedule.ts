import type { Clock } from "../../../async/clock.ts";
import type { Seals } from "./seals.ts";

export interface SealScheduleOptions {
  readonly seals: Pick<Seals, "sealIfDue">;
  readonly timers: Clock;
  /** Called with the first failure of several in a row. */
  readonly onError: (what: string, error: unknown) => void;
}

export interface SealSchedule {
  /** A health check. @throws while the log cannot be sealed */
  probe(): Promise<void>;
  /** Resolves when no seal is in progress. */
  stop(): Promise<void>;
}

/** Each process that notices that a seal is due appends it. */
export const sealIntervalMs = 60 * 60_000;
const checkMs = 60_000;

/** Seals the log every hour. The first process that notices that a seal is due appends it. */
export const scheduleSeals = ({ seals, timers, onError }: SealScheduleOptions): SealSchedule => {
  let hasFailed = false;
  let isStopped = false;
  let checking = Promise.resolve();

  const check = async (): Promise<void> => {
    try {
      await seals.sealIfDue(sealIntervalMs, { actor: "system" });
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onError("the log could not be sealed", error);
      hasFailed = true;
    }
    if (!isStopped) cancel = start();
  };
  const start = () =>
    timers.after(checkMs, () => {
      checking = check();
    });
  let cancel = start();

  return {
    probe: async () => {
      if (hasFailed) throw new Error("the log could not be sealed, see the log");
    },
    stop: async () => {
      isStopped = true;
      cancel();
      await checking;
    },
  };
};
