import { AsyncResource } from "node:async_hooks";
import { createRateLimit, type Limit } from "../limits/limit.ts";
import type { AskForMore, CountedFor, OpenShares, Shares } from "../limits/shares.ts";
import type { Handlers, Port, Protocol } from "./port.ts";

/** One limit of one key. After a change of `atMost` it is another limit, with shares of its own. */
export interface LimitedKey {
  readonly limit: string;
  readonly key: string;
  readonly atMost: number;
}

/** Calls of a worker to the process that divides the limits. */
export type LimitCalls = {
  /** Asks for `wanted` units, which the worker's attempts lack. `grantShare` is the response. */
  askForShare: { request: LimitedKey & { readonly wanted: number }; response: undefined };
};

/**
 * The calls of that process to the workers. They change shares by differences, so they may arrive
 * late and in any order.
 */
export type ShareCalls = {
  /** Adds units to the share. `isUsedUp`: true if there are fewer units than the worker wanted. */
  grantShare: {
    request: LimitedKey & { readonly units: number; readonly isUsedUp: boolean };
    response: undefined;
  };
  /**
   * Lowers the share to what is used, but not below `keep`. Responds with the units that the worker
   * has given up: less than 0 if it uses more than its share.
   */
  recallShare: { request: LimitedKey & { readonly keep: number }; response: number };
  /** The worker has its usual share of this limit again. */
  forgetShare: { request: LimitedKey; response: undefined };
  /** From now on the worker has its usual share of each limit, except for these. */
  haveShares: { request: readonly LimitedKey[]; response: undefined };
};

/** Returns the usual share, which is the same for all workers. */
export const usualShare = (atMost: number, workers: number): number => Math.floor(atMost / workers);

/**
 * If a limit was used up, a worker does not ask for more of it within this time: refusals must stay
 * cheap. The time doubles up to its maximum while a key continues to exceed its limit.
 */
const usedUpMs = { first: 10, most: 320 };
const maxUsedUp = 10_000;

/**
 * The most questions about limits of clients, who need no credentials. If there are more, a client
 * has only the worker's share.
 */
const clientAsks = { atMost: 100, windowMs: 1_000 };

interface WorkerSharesOptions {
  readonly workers: number;
  readonly port: Pick<Port<LimitCalls, Protocol>, "post">;
  readonly now?: () => number;
}

/**
 * Creates the shares of one worker. Together, the workers never count more than the limit: a share
 * grows only after other shares were lowered, and no share is lowered below what is used.
 */
export const createWorkerShares = ({ workers, port, now = () => performance.now() }: WorkerSharesOptions) => {
  const limits = new Map<string, WorkerLimit>();
  let hasShares = false;

  class WorkerLimit implements Shares {
    readonly #limit: string;
    readonly #used: (key: string) => number;
    readonly #asks: Limit | undefined;
    /** The shares that differ from the usual one. */
    readonly #shares = new Map<string, number>();
    /** The attempts that wait for more of a limit. The worker has asked for it. */
    readonly #waiting = new Map<string, (() => void)[]>();
    #usedUp = new Map<string, { readonly until: number; readonly ms: number }>();

    constructor(limit: string, of: CountedFor, used: (key: string) => number) {
      this.#limit = limit;
      this.#used = used;
      this.#asks = of === "client" ? createRateLimit(clientAsks, now) : undefined;
    }

    /**
     * Returns the share. It exceeds the limit while more than the limit is used, which is possible
     * for unread audio.
     */
    #shareOf(key: string, atMost: number): number {
      const share = this.#shares.size > 0 ? this.#shares.get(nameOf(key, atMost)) : undefined;
      return share ?? (hasShares ? usualShare(atMost, workers) : 0);
    }

    of(key: string, atMost: number): number {
      return Math.min(this.#shareOf(key, atMost), atMost);
    }

    more(key: string, atMost: number): AskForMore | undefined {
      const name = nameOf(key, atMost);
      if (now() < (this.#usedUp.get(name)?.until ?? 0)) return undefined;
      const mayAsk = this.#waiting.has(name) || !this.#asks || this.#asks.tryAcquire("all");
      if (!mayAsk) return undefined;
      return (retry) => {
        const boundRetry = AsyncResource.bind(retry); // the retry keeps the trace of its request
        const waiting = this.#waiting.get(name);
        if (waiting) return void waiting.push(boundRetry);
        this.#waiting.set(name, [boundRetry]);
        this.#ask(key, atMost, 1);
      };
    }

    #ask(key: string, atMost: number, attempts: number): void {
      const wanted = this.#used(key) - this.of(key, atMost) + attempts;
      port.post("askForShare", { limit: this.#limit, key, atMost, wanted: Math.max(1, wanted) });
    }

    /**
     * Adds units to the share. Waiting attempts are retried at once: the next message could recall
     * the units.
     */
    grant(key: string, atMost: number, units: number, isUsedUp: boolean): void {
      const name = nameOf(key, atMost);
      if (units > 0) this.#shares.set(name, this.#shareOf(key, atMost) + units);
      if (isUsedUp) this.#pause(name);
      else this.#usedUp.delete(name);
      this.#retryWhatFits(key, atMost);
      const waiting = this.#waiting.get(name) ?? [];
      if (waiting.length > 0 && !isUsedUp) return void this.#ask(key, atMost, waiting.length);
      this.#waiting.delete(name);
      for (const retry of waiting) retry(); // they are refused
    }

    recall(key: string, atMost: number, keep: number): number {
      this.#retryWhatFits(key, atMost);
      const share = this.#shareOf(key, atMost);
      const kept = Math.max(this.#used(key), Math.min(share, keep));
      this.#shares.set(nameOf(key, atMost), kept);
      return share - kept;
    }

    forget(key: string, atMost: number): void {
      this.#shares.delete(nameOf(key, atMost));
    }

    /** Keeps the present share when the usual share changes. */
    fix(key: string, atMost: number): void {
      this.#shares.set(nameOf(key, atMost), this.#shareOf(key, atMost));
    }

    #retryWhatFits(key: string, atMost: number): void {
      const waiting = this.#waiting.get(nameOf(key, atMost)) ?? [];
      while (waiting.length > 0 && this.#used(key) < this.of(key, atMost)) waiting.shift()?.();
    }

    #pause(name: string): void {
      const before = this.#usedUp.get(name);
      const isRepeated = before !== undefined && now() < before.until + before.ms;
      const ms = isRepeated ? Math.min(before.ms * 2, usedUpMs.most) : usedUpMs.first;
      if (this.#usedUp.size >= maxUsedUp) this.#usedUp = new Map();
      this.#usedUp.set(name, { until: now() + ms, ms });
    }
  }

  const handlers: Handlers<ShareCalls> = {
    grantShare: ({ limit, key, atMost, units, isUsedUp }) =>
      limits.get(limit)?.grant(key, atMost, units, isUsedUp),
    recallShare: ({ limit, key, atMost, keep }) => limits.get(limit)?.recall(key, atMost, keep) ?? 0,
    forgetShare: ({ limit, key, atMost }) => limits.get(limit)?.forget(key, atMost),
    haveShares: (except) => {
      for (const { limit, key, atMost } of except) limits.get(limit)?.fix(key, atMost);
      hasShares = true;
    },
  };

  const open: OpenShares = (limit, of, used) => {
    const opened = new WorkerLimit(limit, of, used);
    limits.set(limit, opened);
    return opened;
  };
  return { open, handlers };
};

const nameOf = (key: string, atMost: number): string => `${atMost} ${key}`;
