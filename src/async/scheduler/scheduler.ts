import { systemTime, type Time } from "../time.ts";
import {
  OwnResource,
  type Resource,
  type ResourceContext,
  type ResourceOptions,
  type Scope,
} from "./resource.ts";

export type Scheduler = ReturnType<typeof createScheduler>;

export interface ResourceStats {
  readonly resource: string;
  readonly running: number;
  readonly queued: number;
  /** Counts the refused jobs since the start. */
  readonly refused: number;
  /** Counts those of them that only their own keys' jobs kept from a slot. */
  readonly refusedForKey: number;
  /** True if it refuses every key. */
  readonly isFull: boolean;
  /** True if a key's oldest job has waited for more than half of the longest wait. */
  readonly isSlow: boolean;
  /**
   * The longest time for which a key has waited for a slot, although it is below its limits; 0 if
   * no key waits.
   */
  readonly oldestWaitMs: number;
}

export interface SchedulerOptions {
  readonly time?: Time;
  /** Called with the time that each job has waited for its slot. */
  readonly onStart?: (resource: string, waitedMs: number) => void;
  /** Opens the resources whose slots all workers share. Default: this process has its own. */
  readonly openShared?: OpenResource;
}

export type OpenResource = (name: string, options: ResourceOptions, context: ResourceContext) => Resource;

const openOwn: OpenResource = (_name, options, context) => new OwnResource(options, context);

/**
 * Shares scarce resources fairly among API keys: each resource has a number of slots, and one queue
 * per key (see fair-queues.ts).
 */
export const createScheduler = ({
  time = systemTime,
  onStart,
  openShared = openOwn,
}: SchedulerOptions = {}) => {
  const refusals = new Map<string, Record<Scope, number>>();
  /** The resources with jobs. Others may have been dropped by their owners. */
  const active = new Map<Resource, string>();

  const statsOf = (resource: string, refused: Readonly<Record<Scope, number>>): ResourceStats => {
    const named = [...active].filter(([, name]) => name === resource).map(([one]) => one);
    const sum = (count: (one: Resource) => number) => named.reduce((all, one) => all + count(one), 0);
    return {
      resource,
      running: sum((one) => one.running()),
      queued: sum((one) => one.queued()),
      refused: refused.all + refused.key,
      refusedForKey: refused.key,
      isFull: named.some((one) => one.isFull()),
      isSlow: named.some((one) => one.isSlow()),
      oldestWaitMs: Math.max(0, ...named.map((one) => one.oldestWaitMs())),
    };
  };

  return {
    /**
     * Opens a resource. Its name labels metrics. Several resources may have the same name, such as
     * those of a provider with the credentials of different websites: their figures are added up.
     */
    resource: (name: string, options: ResourceOptions): Resource => {
      const refused = refusals.get(name) ?? { all: 0, key: 0 };
      refusals.set(name, refused);
      const open = options.isShared ? openShared : openOwn;
      const resource = open(name, options, {
        time: options.time ?? time,
        onChange: () => {
          if (resource.running() + resource.queued() > 0) active.set(resource, name);
          else active.delete(resource);
        },
        onRefused: (scope) => {
          refused[scope] += 1;
        },
        onStart: (waitedMs) => onStart?.(name, waitedMs),
      });
      return resource;
    },
    /** The state of all resources, by name. */
    stats: (): readonly ResourceStats[] =>
      [...refusals].map(([resource, refused]) => statsOf(resource, refused)),
    /** The longest time for which a running job has held its slot, by the resource's name. */
    oldestRuns: (): ReadonlyMap<string, number> => {
      const oldest = new Map([...refusals.keys()].map((name) => [name, 0]));
      for (const [resource, name] of active)
        oldest.set(name, Math.max(oldest.get(name) ?? 0, resource.oldestRunMs()));
      return oldest;
    },
  };
};
