import { Unavailable } from "../../domain/errors.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { AppendTimes } from "../../eventstore/append-times.ts";

/** The clocks of this machine, in milliseconds. */
export interface MachineClocks {
  /** The time since the epoch. It may be set at any time. */
  readonly clock: () => EpochMs;
  /** The time since the machine was started, including the time during which it was suspended. */
  readonly uptime: () => number;
}

/** The readings of both clocks at a moment at which the wall clock was right. */
export type Agreement = Readonly<Record<"wall" | "uptime", number>>;

/** A second source of the time. */
export interface TimeSource {
  readonly name: string;
  /**
   * Resolves with the milliseconds that the source is ahead of this machine's clock; undefined if
   * it does not know the time now.
   */
  readonly difference: () => Promise<number | undefined>;
}

interface ClockCheckOptions {
  readonly clocks: MachineClocks;
  /** They are asked in order: the first one that knows the time decides. */
  readonly sources?: readonly TimeSource[];
  /** True if the event store has the clock of another machine. */
  readonly isStoreElsewhere?: () => boolean;
  /** The last agreement of an earlier process since the machine was started. */
  readonly agreement?: Agreement | undefined;
  readonly onAgreement?: (agreement: Agreement) => void;
  /** Called with a difference above 2 s, and when the clock begins to be wrong. */
  readonly onWarning: (message: string) => void;
}

/**
 * Above the first bound an instance warns, above the second it is not ready and records nothing.
 */
const warningMs = 2_000;
const wrongMs = 60_000;
/**
 * The correction that is legitimate, as a share of the time since the last agreement: daemons
 * correct a clock in small steps.
 */
const correctionShare = 0.001;
const retryAfterSeconds = 10;
/** The sources are asked at these intervals while the clock is right, and while it is wrong. */
const intervalMs = { right: 60 * 60_000, wrong: 10_000 };

export type ClockCheck = ReturnType<typeof createClockCheck>;

/**
 * Decides whether this machine's clock is right. It is wrong if it differs by more than 60 s from
 * the event store's clock or from another source of the time. It is also wrong if it was set by
 * more than 60 s since it was last known to be right, until a source or an operator confirms it.
 */
export const createClockCheck = ({
  clocks: { clock, uptime },
  sources = [],
  isStoreElsewhere = () => false,
  agreement,
  onAgreement = () => {},
  onWarning,
}: ClockCheckOptions) => {
  const readClocks = (): Agreement => ({ wall: clock(), uptime: uptime() });
  // An agreement with a higher uptime is from before a restart. Some containers have an uptime of
  // their own.
  const known = agreement && agreement.uptime <= uptime() ? agreement : undefined;
  let right: Agreement = known ?? readClocks();
  /** The last reading that was compared and accepted. */
  let steady = right;
  /**
   * The wall clock at its last reading, and whether it had been set at its last comparison with the
   * uptime.
   */
  let last = Number.NaN;
  let wasSet = false;
  let difference: number | undefined;
  let storeTime = 0;
  /** The latest time of an event in the log. */
  let logTime = 0;
  /** Says which source finds the clock wrong, and by how much. */
  let objection: string | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  /** The reason why nothing is recorded, as of the last comparison. */
  let problem: string | undefined;

  /**
   * The milliseconds by which the clock was set, at once or in total since it was right; 0 if it
   * was not set, or only a little.
   */
  const jump = (): number => {
    const now = readClocks();
    last = now.wall;
    const step = setBetween(steady, now);
    const sum = setBetween(right, now);
    const isStep = steady !== right && Math.abs(step) > wrongMs;
    wasSet = isStep || Math.abs(sum) > wrongMs + (now.uptime - right.uptime) * correctionShare;
    if (!wasSet) steady = now;
    return !wasSet ? 0 : isStep ? step : sum;
  };

  /**
   * Does not read the uptime while the clock runs evenly: that would cost microseconds, and `check`
   * is called each second.
   */
  const quickJump = (now = clock()): number => {
    if (wasSet || !(Math.abs(now - last) <= wrongMs)) return jump();
    last = now;
    return 0;
  };

  if (!known) onAgreement(right);

  const describeProblem = (set: number): string | undefined => {
    if (objection !== undefined) return objection;
    const isElsewhere = isStoreElsewhere();
    const isDifferent = levelOf(difference) === "wrong";
    if (set !== 0 && !(isElsewhere && isDifferent)) return describeJump(set);
    if (isDifferent) return describeDifference(difference, isElsewhere);
    const behind = logTime - clock();
    return behind > wrongMs ? describeLog(behind) : undefined;
  };

  const compare = (set = quickJump()): string | undefined => {
    const before = problem;
    problem = describeProblem(set);
    if (problem !== undefined && before === undefined) onWarning(problem);
    return problem;
  };

  /**
   * @throws {Unavailable} while the clock is wrong, because the times and months of events would be
   * wrong, too
   */
  const requireRightClock = (): void => {
    const message = compare();
    if (message !== undefined) throw new Unavailable(`Nothing is recorded: ${message}.`, retryAfterSeconds);
    logTime = Math.max(logTime, clock());
  };

  const agree = (): void => {
    right = readClocks();
    steady = right;
    objection = undefined;
    onAgreement(right);
  };

  const note = (): string | undefined =>
    levelOf(difference) === "right" ? undefined : describeDifference(difference, isStoreElsewhere());

  const askSources = async (): Promise<void> => {
    for (const source of sources) {
      const ahead = await source.difference().catch(() => undefined);
      if (ahead === undefined) continue;
      if (Math.abs(ahead) <= wrongMs) agree();
      else objection = describeObjection(ahead, source.name);
      return;
    }
  };

  return {
    /**
     * Returns the time of the wall clock. If the clock was set and that is not confirmed, it
     * returns the last accepted reading plus the time since, so that months, windows and the times
     * of events do not follow a wrong clock.
     */
    now: (): number => {
      const now = clock();
      return quickJump(now) === 0 ? now : steady.wall + uptime() - steady.uptime;
    },
    observe: (times: AppendTimes): void => {
      storeTime = times.created;
      const isElsewhere = isStoreElsewhere();
      // The clock of a store on this machine was set, too.
      if (!isElsewhere && jump() !== 0) return;
      const before = levelOf(difference);
      difference = differenceOf(times);
      const level = levelOf(difference);
      if (level === "warning" && before !== level) onWarning(describeDifference(difference));
      if (isElsewhere && level !== "wrong" && objection === undefined) agree();
      compare();
    },
    /** Compares the clock with the uptime, and asks the sources if that is due. Never rejects. */
    check: async (): Promise<void> => {
      const interval = compare(jump()) === undefined ? intervalMs.right : intervalMs.wrong;
      if (uptime() - askedAt < interval) return;
      askedAt = uptime();
      await askSources();
      compare();
    },
    /**
     * Called when an operator says that a machine's clock showed this time just now, and was right.
     */
    accept: (time: number): void => {
      if (Math.abs(clock() - time) > wrongMs) return;
      agree();
      difference = undefined;
      logTime = clock();
      compare();
    },
    /** Called with a time that an event in the log has. */
    noteLogTime: (time: number): void => {
      logTime = Math.max(logTime, time);
    },
    /**
     * The milliseconds by which the event store's clock is ahead, negative if it is behind;
     * undefined before the first measurement.
     */
    get milliseconds() {
      return difference;
    },
    /**
     * The milliseconds by which this machine's clock is behind; negative if it is ahead, undefined
     * if this is not known. The clock is compared with the event store's clock or, if it was set,
     * with the time that it would show without this.
     */
    get behindMs() {
      const set = quickJump();
      return set === 0 ? difference : -set;
    },
    /**
     * The log's last time, as far as this process knows it: the time of an event, or of the last
     * measured append by the store's clock.
     */
    get logTime() {
      return Math.max(logTime, storeTime);
    },
    /**
     * True before the first measurement, and while the clock is wrong: appends alone would not show
     * that it is right again.
     */
    isProbeNeeded: (): boolean => difference === undefined || compare() !== undefined,
    /** Describes a difference above 2 s. */
    note,
    isWrong: (): boolean => compare() !== undefined,
    /**
     * False while the clock is wrong, or if its difference from the event store's clock is not
     * known.
     */
    isClockRight: (): boolean => difference !== undefined && compare() === undefined,
    requireRightClock,
    /**
     * Each request calls it. It costs nothing while the clock was right at the last comparison.
     * @throws {Unavailable}
     */
    throwIfClockIsWrong: (): void => {
      if (problem !== undefined) requireRightClock();
    },
  };
};

/** Returns by how many milliseconds the clock was set between two readings. */
const setBetween = (from: Agreement, to: Agreement): number =>
  to.wall - from.wall - (to.uptime - from.uptime);

/**
 * The smallest difference that explains the times: 0 if the append may have happened between its
 * request and its response.
 */
const differenceOf = ({ created, sent, acknowledged }: AppendTimes): number => {
  if (created > acknowledged) return created - acknowledged;
  return created < sent ? created - sent : 0;
};

const levelOf = (milliseconds = 0): "right" | "warning" | "wrong" => {
  if (Math.abs(milliseconds) > wrongMs) return "wrong";
  return Math.abs(milliseconds) > warningMs ? "warning" : "right";
};

const seconds = (milliseconds: number): string => `${(Math.abs(milliseconds) / 1_000).toFixed(1)} s`;
const direction = (ahead: number): string => (ahead > 0 ? "behind" : "ahead of");

const confirm = "If it is right now, run `voxledger clock accept` on this machine";

const describeDifference = (ahead = 0, isElsewhere = true): string => {
  const text = `the clock of this machine is ${seconds(ahead)} ${direction(ahead)} the event store's`;
  if (levelOf(ahead) !== "wrong" || isElsewhere) return text;
  return `${text}. ${confirm}`;
};

const describeObjection = (ahead: number, name: string): string =>
  `the clock of this machine is ${seconds(ahead)} ${direction(ahead)} that of ${name}`;

const describeLog = (behind: number): string =>
  `the log has times that are ${seconds(behind)} later than the clock of this machine. ${confirm}`;

const describeJump = (set: number): string =>
  `the clock of this machine was set ${set > 0 ? "forward" : "back"} by ${seconds(set)}. ${confirm}`;
