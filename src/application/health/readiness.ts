import { isoClock } from "../../async/iso-clock.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CheckHealth, ComponentHealth } from "./health.ts";

/** A dependency, and the time since when it has had this status (ISO 8601, UTC). */
interface Dependency extends ComponentHealth {
  readonly name: string;
  readonly since: string;
}

/** `degraded` counts as ready. `draining`: the instance is shutting down. */
export interface Readiness {
  readonly status: "ok" | "degraded" | "down" | "draining";
  readonly dependencies: readonly Dependency[];
}

export type ReadinessCheck = ReturnType<typeof createReadiness>;

export const createReadiness = ({
  checkHealth,
  clock,
}: {
  readonly checkHealth: CheckHealth;
  readonly clock: () => EpochMs;
}) => {
  const now = isoClock(clock);
  const seen = new Map<string, { readonly status: ComponentHealth["status"]; readonly since: string }>();
  let draining = false;

  const sinceOf = (name: string, { status }: ComponentHealth): string => {
    const known = seen.get(name);
    if (known?.status === status) return known.since;
    const since = now();
    seen.set(name, { status, since });
    return since;
  };

  return {
    /** Never rejects. */
    check: async (): Promise<Readiness> => {
      const { status, parts } = await checkHealth();
      const dependencies = Object.entries(parts).map(([name, part]) => ({
        name,
        ...part,
        since: sinceOf(name, part),
      }));
      return { status: draining ? "draining" : status, dependencies };
    },
    /** Reports `draining` from now on. */
    drain: (): void => {
      draining = true;
    },
  };
};
