import type { ResourceStats } from "../../async/scheduler/scheduler.ts";
import type { ActivityHour } from "./activity.ts";
import type { ComponentHealth, Health } from "./health.ts";
import type { InstanceStatus, ProviderStatus } from "./instance-status.ts";
import type { ProviderActivity } from "./provider-activity.ts";

/*
 * The reports of one service in several processes, made from those of its processes. They do not
 * depend on which process responds: a fact that only one process can state, such as its name, is
 * taken from the process whose name comes first.
 */

/** Each process reports this of itself. */
export interface Reports {
  readonly health: Health;
  readonly status: InstanceStatus;
  readonly providers: ProviderStatus;
}

type All<T> = readonly [T, ...T[]];

const byInstance = <T extends { readonly instance: string }>(all: All<T>): All<T> =>
  all.toSorted((a, b) => (a.instance < b.instance ? -1 : 1)) as unknown as All<T>;

/**
 * A part is down if it is down in any process. The service is down if all processes are, and
 * degraded if any of them is degraded, down or missing.
 */
export const combineHealth = (all: All<Health>, missing = 0): Health => {
  const names = [...new Set(all.flatMap(({ parts }) => Object.keys(parts)))];
  const parts = names.map((name): [string, ComponentHealth] => {
    const found = all.flatMap(({ parts }) => parts[name] ?? []);
    const down = found.find(({ status }) => status === "down");
    const noted = found.find(({ detail }) => detail !== undefined);
    return [name, down ?? noted ?? { status: "ok" }];
  });
  if (missing > 0) {
    const detail = `${missing} of ${all.length + missing} do not respond`;
    parts.push(["workers", { status: "down", detail }]);
  }
  const isOk = missing === 0 && all.every(({ status }) => status === "ok");
  const isDown = all.every(({ status }) => status === "down");
  return { status: isDown ? "down" : isOk ? "ok" : "degraded", parts: Object.fromEntries(parts) };
};

export const combineStatus = (reports: All<InstanceStatus>, missing = 0): InstanceStatus => {
  const all = byInstance(reports);
  const [first] = all;
  const instances = new Set(all.map(({ instance }) => instance));
  return {
    ...first,
    startedAt: all.map(({ startedAt }) => startedAt).toSorted()[0] ?? first.startedAt,
    asOf: all.map(({ asOf }) => asOf).toSorted()[0] ?? first.asOf,
    position: Math.min(...all.map(({ position }) => position)),
    projections: {
      lagMs: Math.max(...all.map(({ projections }) => projections.lagMs)),
      live: all.every(({ projections }) => projections.live),
      failed: [...new Set(all.flatMap(({ projections }) => projections.failed))],
    },
    health: combineHealth(all.map(({ health }) => health) as unknown as All<Health>, missing),
    others: first.others.filter(({ instance }) => !instances.has(instance)),
    activity: combineHours(all.flatMap(({ activity }) => activity)),
  };
};

const combineHours = (all: readonly ActivityHour[]): readonly ActivityHour[] => {
  const hours = Map.groupBy(all, ({ from }) => from);
  return [...hours.keys()].toSorted().map((from) => {
    const same = hours.get(from) ?? [];
    const served = (source: keyof ActivityHour["served"]) => ({
      requests: sum(same.map((hour) => hour.served[source].requests)),
      characters: sum(same.map((hour) => hour.served[source].characters)),
    });
    const codes = new Set(same.flatMap(({ refused }) => Object.keys(refused)));
    const refused = [...codes].map((code) => [code, sum(same.map((hour) => hour.refused[code] ?? 0))]);
    return {
      from,
      served: {
        miss: served("miss"),
        coalesced: served("coalesced"),
        memory: served("memory"),
        store: served("store"),
      },
      refused: Object.fromEntries(refused),
    };
  });
};

export const combineProviders = (reports: All<ProviderStatus>): ProviderStatus => {
  const all = byInstance(reports);
  const resources = Map.groupBy(
    all.flatMap((one) => one.resources),
    ({ resource }) => resource,
  );
  const providers = Map.groupBy(
    all.flatMap((one) => one.providers),
    ({ engine, websiteId }) => `${engine} ${websiteId}`,
  );
  return {
    ...all[0],
    asOf: all.map(({ asOf }) => asOf).toSorted()[0] ?? all[0].asOf,
    resources: [...resources].map(([resource, same]) => combineResource(resource, same)),
    providers: [...providers.values()].map(combineProvider),
  };
};

const combineResource = (resource: string, same: readonly ResourceStats[]): ResourceStats => ({
  resource,
  running: sum(same.map((one) => one.running)),
  queued: sum(same.map((one) => one.queued)),
  refused: sum(same.map((one) => one.refused)),
  refusedForKey: sum(same.map((one) => one.refusedForKey)),
  isFull: same.some((one) => one.isFull),
  isSlow: same.some((one) => one.isSlow),
  oldestWaitMs: Math.max(...same.map((one) => one.oldestWaitMs)),
});

const combineProvider = (same: readonly ProviderActivity[]): ProviderActivity => {
  const [first] = same as All<ProviderActivity>;
  const { latency: _latency, lastError: _lastError, ...described } = first;
  const errors = same.flatMap(({ lastError }) => lastError ?? []).toSorted((a, b) => (a.at < b.at ? 1 : -1));
  const times = same.flatMap(({ latency, requests }) => (latency ? [{ ...latency, requests }] : []));
  const weight = sum(times.map(({ requests }) => requests));
  return {
    ...described,
    circuit: same.some(({ circuit }) => circuit === "open") ? "open" : "closed",
    requests: sum(same.map(({ requests }) => requests)),
    retries: sum(same.map(({ retries }) => retries)),
    errors: sum(same.map(({ errors: count }) => count)),
    ...(times[0] && {
      latency: {
        // The order of the workers' requests is unknown.
        last: Math.max(...times.map(({ last }) => last)),
        mean: Math.round(sum(times.map(({ mean, requests }) => mean * requests)) / Math.max(1, weight)),
        longest: Math.max(...times.map(({ longest }) => longest)),
      },
    }),
    ...(errors[0] && { lastError: errors[0] }),
    changes: same.flatMap(({ changes }) => changes).toSorted((a, b) => (a.at < b.at ? -1 : 1)),
  };
};

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
