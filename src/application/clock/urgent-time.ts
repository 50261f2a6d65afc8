import type { EpochMs } from "../../domain/time.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { ClockCheck } from "./clock-check.ts";

/**
 * The time of a command's events. `log`: the log's last time, because this machine's clock is
 * wrong.
 */
export interface CommandTime {
  readonly at: string;
  readonly clock?: "log";
}

/**
 * Returns the time for commands that operators must be able to execute even while the clock is
 * wrong: suspending a key and revoking a secret. All other commands are then refused.
 */
export type UrgentTime = () => Promise<CommandTime>;

export const createUrgentTime =
  ({
    clockCheck,
    clock,
    measure,
  }: {
    readonly clockCheck: Pick<ClockCheck, "isWrong" | "logTime">;
    readonly clock: () => EpochMs;
    /**
     * Appends an event and reads its time.
     * @throws {EventStoreUnavailable}
     */
    readonly measure: () => Promise<void>;
  }): UrgentTime =>
  async () => {
    if (!clockCheck.isWrong()) return { at: new Date(clock()).toISOString() };
    await measure().catch(throwUnavailable);
    return { at: new Date(clockCheck.logTime).toISOString(), clock: "log" };
  };
