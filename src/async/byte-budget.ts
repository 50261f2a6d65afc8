import { Fifo } from "./scheduler/fifo.ts";
import { backgroundTime, type Time } from "./time.ts";

export interface ByteBudgetOptions {
  /** Bytes that one owner may hold. */
  readonly perOwner: number;
  /** Bytes that all owners may hold together. */
  readonly total: number;
  /** The time for which bytes may be held while others wait for them. */
  readonly heldMs: number;
  readonly time?: Time;
}

export interface WantedBytes {
  /** If undefined, the bytes count towards the total alone. */
  readonly owner: string | undefined;
  readonly bytes: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called once if the bytes are held too long while others wait. They must still be released. */
  readonly onOverdue: () => void;
}

export type ByteBudget = ReturnType<typeof createByteBudget>;

/**
 * Limits the bytes in memory, for each owner and in total. A call that would exceed a limit waits;
 * waiting calls are served in their order. A single call may exceed a limit while nothing else is
 * held.
 */
export const createByteBudget = (options: ByteBudgetOptions) => {
  const { perOwner, total, heldMs, time = backgroundTime } = options;
  const all = new Budget({ limit: total, heldMs, time });
  const owners = new Map<string, Budget>();

  const budgetOf = (owner: string): Budget => {
    const known = owners.get(owner);
    if (known) return known;
    const own = new Budget({ limit: perOwner, heldMs, time });
    owners.set(owner, own);
    return own;
  };

  return {
    /**
     * Resolves when the bytes may be held, with the function that releases them.
     * @throws the signal's reason
     */
    acquire: async ({ owner, signal, ...wanted }: WantedBytes): Promise<() => void> => {
      const held: HeldBytes = { ...wanted, since: undefined };
      const own = owner === undefined ? undefined : budgetOf(owner);
      const release = (): void => {
        all.release(held);
        own?.release(held);
        if (owner !== undefined && own?.isUnused()) owners.delete(owner);
      };
      try {
        // The owner's limit comes first, so that an owner waits for the total with no more bytes
        // than its limit.
        await own?.acquire(held, signal);
        await all.acquire(held, signal);
      } catch (error) {
        release();
        throw error;
      }
      held.since = time.now();
      own?.watch();
      all.watch();
      return release;
    },
    stats: (): { readonly bytes: number; readonly owners: number } => ({
      bytes: all.bytes,
      owners: owners.size,
    }),
  };
};

interface HeldBytes extends Pick<WantedBytes, "bytes" | "onOverdue"> {
  /** The time since which the bytes are held; undefined while they wait. */
  since: number | undefined;
}

interface Waiter {
  readonly held: HeldBytes;
  readonly admit: () => void;
}

type BudgetOptions = Required<Pick<ByteBudgetOptions, "heldMs" | "time">> & { readonly limit: number };

class Budget {
  readonly #options: BudgetOptions;
  readonly #waiting = new Fifo<Waiter>();
  /** Bytes that are held, the oldest first. */
  readonly #held = new Set<HeldBytes>();
  readonly #overdue = new WeakSet<HeldBytes>();
  #isWatching = false;
  bytes = 0;

  constructor(options: BudgetOptions) {
    this.#options = options;
  }

  async acquire(held: HeldBytes, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.size === 0 && this.#hasRoomFor(held)) return this.#hold(held);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { held, admit: resolve };
    const onAbort = (): void => {
      if (this.#waiting.delete(waiter)) reject(signal.reason);
      this.#admitWaiters();
    };
    this.#waiting.add(waiter);
    signal.addEventListener("abort", onAbort, { once: true });
    this.watch();
    await promise.finally(() => signal.removeEventListener("abort", onAbort));
  }

  /** Does nothing if they are not held. */
  release(held: HeldBytes): void {
    if (!this.#held.delete(held)) return;
    this.bytes -= held.bytes;
    this.#admitWaiters();
  }

  isUnused(): boolean {
    return this.#held.size === 0 && this.#waiting.size === 0;
  }

  #hasRoomFor({ bytes }: HeldBytes): boolean {
    return this.bytes === 0 || this.bytes + bytes <= this.#options.limit;
  }

  #hold(held: HeldBytes): void {
    this.bytes += held.bytes;
    this.#held.add(held);
  }

  #admitWaiters(): void {
    for (let next = this.#waiting.peek(); next && this.#hasRoomFor(next.held); next = this.#waiting.peek()) {
      this.#waiting.delete(next);
      this.#hold(next.held);
      next.admit();
    }
  }

  /** While anyone waits, reports the bytes that have been held for too long. */
  watch(): void {
    if (this.#isWatching || this.#waiting.size === 0) return;
    const oldest = this.#held.values().find((held) => held.since !== undefined && !this.#overdue.has(held));
    if (oldest?.since === undefined) return;
    const { time, heldMs } = this.#options;
    this.#isWatching = true;
    time.after(oldest.since + heldMs - time.now(), () => {
      this.#isWatching = false;
      if (this.#waiting.size > 0 && this.#held.has(oldest)) {
        this.#overdue.add(oldest);
        oldest.onOverdue();
      }
      this.watch();
    });
  }
}
