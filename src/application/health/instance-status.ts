import { type Rate, reportingInstances } from "../../../projections/rate.ts";
import type { RunnerStatus } from "../../../projections/runner/runner.ts";
import type { View } from "../../../projections/runner/view.ts";
import type { ResourceStats } from "../../async/scheduler/scheduler.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { Activity, ActivityHour } from "./activity.ts";
import type { CheckHealth, Health } from "./health.ts";
import type { ProviderActivities, ProviderActivity } from "./provider-activity.ts";

/** The state of the instance that responds. Times are ISO 8601, UTC. */
export interface InstanceStatus {
  readonly instance: string;
  /** The version of the program. */
  readonly version: string;
  readonly startedAt: string;
  readonly asOf: string;
  /** The views of this instance include the log up to this position. */
  readonly position: number;
  readonly projections: {
    readonly lagMs: number;
    readonly live: boolean;
    readonly failed: readonly string[];
  };
  readonly health: Health;
  /** The other instances that have reported in the last five minutes, with or without requests. */
  readonly others: readonly { readonly instance: string; readonly reportedAt: string }[];
  /** The work of this instance by hour, since its start and at most for two days. */
  readonly activity: readonly ActivityHour[];
}

/** Providers, and the resources that all synthesis shares, as this instance sees them. */
export interface ProviderStatus {
  readonly instance: string;
  readonly asOf: string;
  readonly resources: readonly ResourceStats[];
  readonly providers: readonly ProviderActivity[];
}

export type ShowStatus = () => Promise<InstanceStatus>;
export type ShowProviders = () => Promise<ProviderStatus>;

interface InstanceStatusOptions {
  readonly instance: string;
  readonly version: string;
  readonly clock: () => EpochMs;
  readonly views: () => RunnerStatus;
  readonly rate: View<Rate>;
  readonly checkHealth: CheckHealth;
  readonly activity: Activity;
  readonly providerActivities: ProviderActivities;
  readonly resources: () => readonly ResourceStats[];
}

export const createInstanceStatus = (
  options: InstanceStatusOptions,
): { readonly showStatus: ShowStatus; readonly showProviders: ShowProviders } => {
  const { instance, version, clock, views, rate, checkHealth, activity, providerActivities, resources } =
    options;
  const now = (): string => new Date(clock()).toISOString();
  const startedAt = now();
  return {
    showStatus: async () => {
      const health = await checkHealth();
      const { position, lagMs, live, failed } = views();
      return {
        instance,
        version,
        startedAt,
        asOf: now(),
        position: Math.max(0, position),
        projections: { lagMs: Math.round(lagMs), live, failed },
        health,
        others: reportingInstances(rate, clock()),
        activity: activity.hours(),
      };
    },
    showProviders: async () => ({
      instance,
      asOf: now(),
      resources: resources(),
      providers: providerActivities.list(),
    }),
  };
};
