import { Unavailable } from "../../domain/errors.ts";
import type { AppendTimes } from "../../eventstore/append-times.ts";

/** Above the first bound an instance warns, above the second it is not ready and records nothing. */
const warningMs = 2_000;
const wrongMs = 60_000;
const retryAfterSeconds = 10;

type Level = "right" | "warning" | "wrong";

export type ClockDifference = ReturnType<typeof createClockDifference>;

/** The difference between the event store's clock and this process's clock, as measured by appends. */
export const createClockDifference = ({
  onWarning,
  clock,
  uptime = () => performance.now(),
}: {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Monotonic time in milliseconds. */
  readonly uptime?: () => number;
  /** Called when the difference begins to exceed 2 s, and when it begins to exceed 60 s. */
  readonly onWarning: (message: string) => void;
}) => {
  let milliseconds: number | undefined;
  let level: Level = "right";
  let bootTime = clock() - uptime();

  /** The clock was set, or the machine was suspended, since the last measurement. */
  const hasJumped = (): boolean => Math.abs(clock() - uptime() - bootTime) > wrongMs;

  return {
    observe: (times: AppendTimes): void => {
      const before = level;
      bootTime = clock() - uptime();
      milliseconds = differenceOf(times);
      level = levelOf(milliseconds);
      if (level !== before && level !== "right") onWarning(describe(milliseconds));
    },
    /** Milliseconds that the event store is ahead, negative if it is behind; undefined before the first measurement. */
    get milliseconds() {
      return milliseconds;
    },
    /**
     * True before the first measurement, after the clock has jumped, and while it is wrong: appends alone would not show that it
     * is right again.
     */
    isProbeNeeded: (): boolean => milliseconds === undefined || level === "wrong" || hasJumped(),
    /** Describes a difference above 2 s. */
    note: (): string | undefined => (level === "right" ? undefined : describe(milliseconds)),
    /** False above 60 s, and if the difference is not known. */
    isClockRight: (): boolean => milliseconds !== undefined && level !== "wrong" && !hasJumped(),
    /** @throws {Unavailable} above 60 s: the times and months of servings would be wrong */
    throwIfClockIsWrong: (): void => {
      if (level !== "wrong") return;
      throw new Unavailable(`Nothing is recorded: ${describe(milliseconds)}.`, retryAfterSeconds);
    },
  };
};

/** The smallest difference that explains the times: 0 if the append may have happened between its request and its answer. */
const differenceOf = ({ created, sent, answered }: AppendTimes): number => {
  if (created > answered) return created - answered;
  return created < sent ? created - sent : 0;
};

const levelOf = (milliseconds: number): Level => {
  if (Math.abs(milliseconds) > wrongMs) return "wrong";
  return Math.abs(milliseconds) > warningMs ? "warning" : "right";
};

const describe = (milliseconds = 0): string => {
  const seconds = (Math.abs(milliseconds) / 1_000).toFixed(1);
  return `the clock of this machine is ${seconds} s ${milliseconds > 0 ? "behind" : "ahead of"} the event store's`;
};
