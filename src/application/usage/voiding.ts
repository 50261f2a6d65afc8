import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { Unavailable } from "../../domain/errors.ts";
import { voidingDecider, voidServings } from "../../domain/usage/voiding.ts";
import type { CommandHandler, CommandHandlerOptions } from "../../eventstore/command-handler.ts";
import { isoClock } from "../iso-clock.ts";

/** Identifies a serving that is, or may be, in a usage stream at a revision greater than `after`. */
export interface Receipt {
  readonly stream: string;
  readonly requestId: string;
  readonly after: number;
}

/** Voids servings without audio in the background, and retries until the outcome of each is known. */
export interface Voiding {
  void(receipt: Receipt): void;
  /** @throws {Unavailable} when the stream has the maximum number of pending requests */
  throwIfFull(stream: string): void;
  /** The number of pending requests. */
  readonly pending: number;
  /** Resolves when no request is pending. */
  settled(): Promise<void>;
  /** Waits at most `timeoutMs`, then reports the requests that stay charged. */
  close(timeoutMs: number): Promise<void>;
}

export interface VoidingOptions {
  /** Opens a command handler for one attempt at one stream. */
  readonly openHandler: (
    options: Pick<CommandHandlerOptions, "readSnapshot" | "deadlineMs">,
  ) => CommandHandler;
  readonly clock: () => number;
  /** The deadline of one attempt. Default 2,000. */
  readonly deadlineMs?: number;
  /** Maximum number of pending requests per stream. Default 1,000. */
  readonly maxPerStream?: number;
  readonly onError: (what: string, error: unknown) => void;
}

/** The delay after an error other than an unavailable store. */
const retryMs = 5_000;
const maxReported = 50;

export const createVoiding = ({
  openHandler,
  clock,
  deadlineMs = 2_000,
  maxPerStream = 1_000,
  onError,
}: VoidingOptions): Voiding => {
  const now = isoClock(clock);
  const streams = new Map<string, { readonly open: Set<Receipt>; readonly work: Promise<void> }>();
  const closing = new AbortController();

  /**
   * Decides on the events since the requests started. An abandoned append may still be stored later; the next attempt
   * then finds its events, or prevents them from being stored.
   */
  const settle = async (stream: string, receipts: readonly Receipt[]): Promise<void> => {
    const requestIds = new Set(receipts.map(({ requestId }) => requestId));
    const decider = voidingDecider(requestIds);
    const revision = Math.min(...receipts.map(({ after }) => after));
    const start = { state: decider.initial(), revision, position: -1 };
    const handler = openHandler({ readSnapshot: async () => start, deadlineMs });
    await handler.execute(decider, stream, (state) => voidServings(state, requestIds, now()), {
      actor: "system",
    });
  };

  const attempt = async (stream: string, receipts: readonly Receipt[]): Promise<boolean> => {
    try {
      await settle(stream, receipts);
      return true;
    } catch (error) {
      if (error instanceof Unavailable) return false;
      onError("servings without audio could not be voided yet", error);
      await delay(retryMs, undefined, { signal: closing.signal }).catch(() => {});
      return false;
    }
  };

  const work = async (stream: string, open: Set<Receipt>): Promise<void> => {
    while (open.size > 0 && !closing.signal.aborted) {
      await nextTurn(); // requests that are voided in one turn of the event loop share an append
      const receipts = [...open];
      if (!(await attempt(stream, receipts))) continue;
      for (const receipt of receipts) open.delete(receipt);
    }
    if (open.size === 0) streams.delete(stream);
  };

  const unsettled = (): Receipt[] => [...streams.values()].flatMap(({ open }) => [...open]);

  const settled = async (): Promise<void> => {
    while (streams.size > 0 && !closing.signal.aborted) {
      await Promise.all([...streams.values()].map(({ work }) => work));
    }
  };

  return {
    void: (receipt) => {
      const { stream } = receipt;
      const known = streams.get(stream);
      if (known) return void known.open.add(receipt);
      const open = new Set([receipt]);
      streams.set(stream, { open, work: work(stream, open) });
    },
    throwIfFull: (stream) => {
      if ((streams.get(stream)?.open.size ?? 0) >= maxPerStream) throw tooMany();
    },
    get pending() {
      return unsettled().length;
    },
    settled,
    close: async (timeoutMs) => {
      const timeout = new AbortController();
      await Promise.race([
        settled(),
        delay(timeoutMs, undefined, { signal: timeout.signal }).catch(() => {}),
      ]);
      timeout.abort();
      closing.abort();
      const left = unsettled().map(({ requestId }) => requestId);
      if (left.length === 0) return;
      const some = left.slice(0, maxReported).join(", ");
      onError(`${left.length} requests without audio may stay charged`, new Error(`not settled: ${some}`));
    },
  };
};

const tooMany = (): Unavailable =>
  new Unavailable("Too many requests of this key wait for the event store to recover.", 2);
