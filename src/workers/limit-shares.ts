import type { OpenShares, Shares } from "../limits/shares.ts";
import type { Handlers, Port, Protocol } from "./port.ts";

/** One limit of one key. */
export interface LimitedKey {
  readonly limit: string;
  readonly key: string;
}

/** Calls of a worker to the process that divides the limits. */
export type LimitCalls = {
  /** Responds when it has sent the share that this worker has now. `used`: by this worker. */
  askForShare: {
    request: LimitedKey & { readonly atMost: number; readonly wanted: number };
    response: undefined;
  };
};

/** Its calls to the workers. */
export type ShareCalls = {
  /** Gives the worker this share; undefined: the usual one. */
  setShare: { request: LimitedKey & { readonly share: number | undefined }; response: undefined };
  /** Lowers the share to what is used, but not below `least`. Responds with the share. */
  yieldShare: {
    request: LimitedKey & { readonly atMost: number; readonly least: number };
    response: number;
  };
  /** From now on this worker has its usual share of each limit that `setShare` has not set. */
  haveShares: { request: undefined; response: undefined };
};

/** A worker's usual share: as much as every other one's. */
export const usualShare = (atMost: number, workers: number): number => Math.floor(atMost / workers);

/** A limit that was used up is not asked for again within this time: refusals must stay cheap. */
const usedUpMs = 10;
const maxUsedUp = 10_000;

interface WorkerSharesOptions {
  readonly workers: number;
  readonly port: Pick<Port<LimitCalls, Protocol>, "call">;
  readonly now?: () => number;
}

/**
 * The shares of one worker. Together, the workers never count more than the limit: a share grows
 * only after those of others were lowered, and none is lowered below what is used.
 */
export const createWorkerShares = ({ workers, port, now = () => performance.now() }: WorkerSharesOptions) => {
  const limits = new Map<string, WorkerLimit>();
  let hasShares = false;

  class WorkerLimit implements Shares {
    readonly used: (key: string) => number;
    /** Those that differ from the usual one. */
    readonly shares = new Map<string, number>();
    readonly #limit: string;
    readonly #asking = new Map<string, Promise<void>>();
    #usedUp = new Map<string, number>();

    constructor(limit: string, used: (key: string) => number) {
      this.#limit = limit;
      this.used = used;
    }

    of(key: string, atMost: number): number {
      const share = this.shares.size > 0 ? this.shares.get(key) : undefined;
      if (share !== undefined) return Math.min(share, atMost);
      return hasShares ? usualShare(atMost, workers) : 0;
    }

    ask(key: string, atMost: number, wanted = 1): (() => Promise<void>) | undefined {
      if (now() < (this.#usedUp.get(key) ?? 0)) return undefined;
      return () => {
        const known = this.#asking.get(key);
        if (known !== undefined) return known;
        const asking = this.#ask(key, atMost, wanted).finally(() => this.#asking.delete(key));
        this.#asking.set(key, asking);
        return asking;
      };
    }

    async #ask(key: string, atMost: number, wanted: number): Promise<void> {
      const before = this.of(key, atMost);
      // The worker ends with the primary.
      await port.call("askForShare", { limit: this.#limit, key, atMost, wanted }).catch(() => {});
      if (this.of(key, atMost) > before) return;
      if (this.#usedUp.size >= maxUsedUp) this.#usedUp = new Map();
      this.#usedUp.set(key, now() + usedUpMs);
    }
  }

  const handlers: Handlers<ShareCalls> = {
    setShare: ({ limit, key, share }) => {
      if (share === undefined) limits.get(limit)?.shares.delete(key);
      else limits.get(limit)?.shares.set(key, share);
    },
    yieldShare: ({ limit, key, atMost, least }) => {
      const found = limits.get(limit);
      if (!found) return 0;
      // What is used may be more than the share: unread audio may exceed it once.
      const share = Math.max(found.used(key), Math.min(found.of(key, atMost), least));
      found.shares.set(key, share);
      return share;
    },
    haveShares: () => {
      hasShares = true;
    },
  };

  const open: OpenShares = (limit, used) => {
    const opened = new WorkerLimit(limit, used);
    limits.set(limit, opened);
    return opened;
  };
  return { open, handlers };
};
