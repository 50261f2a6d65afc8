import type { Resource, Scope } from "../async/scheduler/resource.ts";
import { createScheduler } from "../async/scheduler/scheduler.ts";
import { createWaiter, type Waiter } from "../async/scheduler/waiter.ts";
import type { Time } from "../async/time.ts";
import type { Handlers } from "./port.ts";
import type { ResourceBounds, SlotCalls } from "./remote-resource.ts";

/** The queue of this scope is full. */
class Refused extends Error {
  readonly scope: Scope;

  constructor(scope: Scope) {
    super(`refused: ${scope}`);
    this.scope = scope;
  }
}

interface Job {
  readonly waiter: Waiter;
  readonly ended: AbortController;
  release: (() => void) | undefined;
}

/**
 * Grants slots to the jobs of all workers, which wait in the same fair queues. The slots of a
 * worker that has ended are free again.
 */
export const createSlotGrants = ({ time }: { readonly time?: Time } = {}) => {
  const scheduler = createScheduler(time ? { time } : {});
  const resources = new Map<string, Resource>();

  const resourceOf = (name: string, bounds: ResourceBounds): Resource => {
    const known = resources.get(name);
    if (known) return known;
    const opened = scheduler.resource(name, { ...bounds, overloaded: (scope) => new Refused(scope) });
    resources.set(name, opened);
    return opened;
  };

  return {
    /**
     * Returns the handlers for the calls of one worker, and the function to call when it has ended.
     */
    serve: (): { readonly handlers: Handlers<SlotCalls>; readonly end: () => void } => {
      const jobs = new Map<number, Job>();
      const release = (id: number): void => {
        const job = jobs.get(id);
        jobs.delete(id);
        job?.ended.abort();
        job?.release?.();
      };
      const handlers: Handlers<SlotCalls> = {
        findRefusal: async ({ resource, bounds, keys }) => {
          try {
            await resourceOf(resource, bounds).requireCapacity(waiterOf(keys));
            return undefined;
          } catch (error) {
            return (error as Refused).scope;
          }
        },
        acquireSlot: async ({ resource, bounds, id, keys, responseSeconds, sequence, options }) => {
          const waiter = waiterOf(keys, responseSeconds, sequence);
          const job: Job = { waiter, ended: new AbortController(), release: undefined };
          jobs.set(id, job);
          try {
            job.release = await resourceOf(resource, bounds).acquire(waiter, job.ended.signal, options);
          } catch (error) {
            jobs.delete(id);
            // At any other error the worker no longer waits.
            return error instanceof Refused ? error.scope : "all";
          }
          if (job.ended.signal.aborted) job.release();
          return "granted";
        },
        joinSlot: ({ id, key }) => jobs.get(id)?.waiter.join(key),
        releaseSlot: release,
      };
      return {
        handlers,
        end: () => {
          for (const id of [...jobs.keys()]) release(id);
        },
      };
    },
  };
};

const waiterOf = ([first, ...others]: readonly string[], seconds?: number, sequence?: number): Waiter => {
  const waiter = createWaiter(first, seconds, sequence);
  for (const key of others) waiter.join(key);
  return waiter;
};
