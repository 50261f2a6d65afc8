import { withDeadline } from "../../async/deadline.ts";
import { systemTime, type Time } from "../../async/time.ts";

/** The health of one dependency. */
export interface ComponentHealth {
  readonly status: "ok" | "down";
  /** The error or a note; without secrets. */
  readonly detail?: string;
}

/** `degraded`: a non-critical dependency is down. `down`: a critical one is. */
export interface Health {
  readonly status: "ok" | "degraded" | "down";
  readonly parts: Readonly<Record<string, ComponentHealth>>;
}

/** A health check. The message of a rejection becomes the detail. */
export interface Check {
  readonly name: string;
  /** True if no request can be served without it. */
  readonly critical: boolean;
  readonly probe: () => Promise<void>;
  /** A note on a healthy dependency. */
  readonly note?: () => string | undefined;
  /** The time for which a successful probe is reused, for probes that are not free. Default: 0. */
  readonly cacheMs?: number;
}

/** Resolves with the report. Concurrent calls, and calls shortly after, share it. Never rejects. */
export type CheckHealth = () => Promise<Health>;

/** How long a report is reused: anybody may ask for it. */
const reuseMs = 500;

/** Runs the task once for concurrent calls, and for those within 500 ms of its end. */
export const shareReports = <T>(task: () => Promise<T>, time: Pick<Time, "now"> = systemTime) => {
  let last: Promise<T> | undefined;
  let staleAt = 0;
  return (): Promise<T> => {
    if (last && time.now() < staleAt) return last;
    staleAt = Number.POSITIVE_INFINITY; // while it runs
    last = task().finally(() => {
      staleAt = time.now() + reuseMs;
    });
    return last;
  };
};

export const createHealth = ({
  checks,
  time = systemTime,
  timeoutMs = 2_000,
}: {
  checks: readonly Check[];
  time?: Pick<Time, "now">;
  /** The timeout of a probe. */
  timeoutMs?: number;
}): CheckHealth => {
  const cachedUntil = new Map<string, number>();

  const checkOne = async ({ name, probe, note, cacheMs = 0 }: Check): Promise<ComponentHealth> => {
    const isGood = time.now() < (cachedUntil.get(name) ?? 0);
    const found: ComponentHealth = isGood ? { status: "ok" } : await runProbe(probe, timeoutMs);
    if (found.status === "down") return found;
    if (!isGood) cachedUntil.set(name, time.now() + cacheMs);
    const detail = note?.();
    return detail === undefined ? found : { status: "ok", detail };
  };

  const checkAll = async (): Promise<Health> => {
    const found = await Promise.all(
      checks.map(async (check): Promise<[string, ComponentHealth]> => [check.name, await checkOne(check)]),
    );
    const down = checks.filter((_, index) => found[index]?.[1].status === "down");
    const status = down.length === 0 ? "ok" : down.some(({ critical }) => critical) ? "down" : "degraded";
    return { status, parts: Object.fromEntries(found) };
  };

  return shareReports(checkAll, time);
};

const runProbe = async (probe: () => Promise<void>, ms: number): Promise<ComponentHealth> => {
  try {
    await withDeadline({ ms, onTimeout: () => new Error("no response in time") }, probe);
    return { status: "ok" };
  } catch (error) {
    return { status: "down", detail: error instanceof Error ? error.message : "unknown" };
  }
};
