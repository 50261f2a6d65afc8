import type { UserProjection } from "../../../projections/eventstoredb/user-projections.ts";
import { exponentialBackoff, type RetryOptions, retry } from "../../async/retry.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { EventStoreUnavailable } from "../../eventstore/event-store.ts";
import {
  isCaughtUp,
  type ProjectionServer,
  ProjectionServerBusy,
  type ServerProjection,
} from "../../eventstore/projection-server.ts";
import { isComplete, type UserProjectionStatus } from "./statuses.ts";

/** The change made to one projection, and its current state on the server. */
export interface InstalledProjection extends UserProjectionStatus {
  /** `kept`: an earlier version that could not be removed. */
  readonly done: "created" | "updated" | "removed" | "kept";
  /** The reason if it was faulted before the first update. */
  readonly fault?: string;
}

export interface InstallOptions {
  /** The number of attempts after faults that a busy server causes. Default: 10. */
  readonly attempts?: number;
  /** The longest wait until a projection has read the log. Default: 10 minutes. */
  readonly waitMs?: number;
  /** The interval between two questions for a projection's state. Default: 250. */
  readonly pollMs?: number;
  readonly time?: Time;
}

const backoff = { firstMs: 1_000, maxMs: 10_000 };
/** A projection must be running at the log's end this many times in a row. */
const timesCaughtUp = 2;

/**
 * Installs this release's projections, and waits until they have read the log; idempotent. Creates
 * missing ones, updates existing ones, and restarts stopped or faulted ones. Repeats what a busy
 * server did not do in time. Removes the earlier versions of a projection once it has read the log.
 * @throws {EventStoreUnavailable}
 */
export const installUserProjections = async (
  server: ProjectionServer,
  wanted: readonly UserProjection[],
  { attempts = 10, waitMs = 10 * 60_000, pollMs = 250, time = systemTime }: InstallOptions = {},
): Promise<InstalledProjection[]> => {
  /** Repeats a task while the server is busy. */
  const retryWhileBusy = <T>(mayRecover: (value: T) => boolean, task: () => Promise<T>): Promise<T> => {
    const delayAfter: RetryOptions<T>["delayAfter"] = (outcome, attempt) => {
      const isTransient =
        "error" in outcome ? outcome.error instanceof ProjectionServerBusy : mayRecover(outcome.value);
      return isTransient && attempt < attempts ? exponentialBackoff(backoff, attempt) : undefined;
    };
    return retry({ delayAfter, time }, task);
  };

  /** Asks for the projection's state until `isSettled`, or until the wait ends. */
  const poll = (
    name: string,
    isSettled: (found: ServerProjection | undefined) => boolean,
  ): Promise<ServerProjection | undefined> => {
    const end = time.now() + waitMs;
    const delayAfter: RetryOptions<ServerProjection | undefined>["delayAfter"] = (outcome) => {
      const mustRepeat =
        "error" in outcome ? outcome.error instanceof ProjectionServerBusy : !isSettled(outcome.value);
      return mustRepeat && time.now() < end ? pollMs : undefined;
    };
    return retry({ delayAfter, time }, () => server.find(name));
  };

  const awaitCaughtUp = (name: string): Promise<ServerProjection | undefined> => {
    let times = 0;
    return poll(name, (found) => {
      times = found && isCaughtUp(found) ? times + 1 : 0;
      return found === undefined || isAtRest(found) || times >= timesCaughtUp;
    });
  };

  const install = async ({ name, query }: UserProjection): Promise<InstalledProjection> => {
    let before: { readonly found: ServerProjection | undefined } | undefined;
    const attempt = async (): Promise<ServerProjection | undefined> => {
      const found = await server.find(name);
      before ??= { found };
      if (!found) await server.create(name, query);
      else {
        await server.update(name, query);
        if (found.state !== "running") await server.enable(name);
      }
      return await awaitCaughtUp(name);
    };
    // It was enabled: if it is stopped, another process has just updated it.
    const isBusy = (found: ServerProjection | undefined): boolean =>
      found?.mayRecover === true || found?.state === "stopped";
    const { mayRecover: _, ...now } = (await retryWhileBusy(isBusy, attempt)) ?? { name, state: "absent" };
    const { found } = before ?? {};
    return {
      ...now,
      done: found ? "updated" : "created",
      ...(found?.state === "faulted" && { fault: found.reason ?? "unknown" }),
    };
  };

  /** Resolves with undefined if there is no such projection. */
  const remove = async (name: string): Promise<InstalledProjection | undefined> => {
    const attempt = async (): Promise<boolean> => {
      const found = await server.find(name);
      if (!found) return false;
      if (!isAtRest(found)) {
        await server.disable(name);
        await poll(name, (now) => now === undefined || isAtRest(now));
      }
      await server.remove(name);
      return true;
    };
    try {
      const isRemoved = await retryWhileBusy(() => false, attempt);
      return isRemoved ? { name, done: "removed", state: "absent" } : undefined;
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      return { name, done: "kept", state: "changing", reason: error.message };
    }
  };

  const changed: InstalledProjection[] = [];
  const removed: InstalledProjection[] = [];
  for (const projection of wanted) {
    const installed = await install(projection);
    changed.push(installed);
    if (!isComplete(installed)) continue;
    for (const name of earlierVersions(projection)) {
      const earlier = await remove(name);
      if (earlier) removed.push(earlier);
    }
  }
  return [...changed, ...removed];
};

/** The server changes the state of such a projection only on demand. */
const isAtRest = ({ state }: ServerProjection): boolean => state === "stopped" || state === "faulted";

const earlierVersions = ({ name, family }: UserProjection): string[] => {
  const version = Number(name.slice(family.length));
  return Array.from({ length: version - 1 }, (_, index) => `${family}${index + 1}`);
};
