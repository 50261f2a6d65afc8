import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { Unavailable } from "../../domain/errors.ts";
import { voidingDecider, voidServings } from "../../domain/usage/voiding.ts";
import type { CommandHandler, CommandHandlerOptions } from "../../eventstore/command-handler.ts";
import { isoClock } from "../iso-clock.ts";

/** A request whose serving is, or may be, in a usage stream, at a revision greater than `after`. */
export interface Receipt {
  readonly stream: string;
  readonly requestId: string;
  readonly after: number;
}

/** Takes servings back whose callers got no audio, in the background, until the log is certain about each. */
export interface Voiding {
  void(receipt: Receipt): void;
  /** @throws {Unavailable} when the stream has as many unsettled requests as are remembered for one */
  throwIfFull(stream: string): void;
  /** Requests that are not settled yet. */
  readonly pending: number;
  /** Resolves when none is pending. */
  settled(): Promise<void>;
  /** Waits for at most so long; reports what stays charged. */
  close(patienceMs: number): Promise<void>;
}

export interface VoidingOptions {
  /** Opens a command handler for one attempt at one stream. */
  readonly openHandler: (
    options: Pick<CommandHandlerOptions, "readSnapshot" | "deadlineMs">,
  ) => CommandHandler;
  readonly clock: () => number;
  /** How long one attempt waits for the store. Default 2,000. */
  readonly deadlineMs?: number;
  /** Unsettled requests of one stream, at most. Default 1,000. */
  readonly maxPerStream?: number;
  readonly onError: (what: string, error: unknown) => void;
}

/** After an error that the store's absence does not explain. */
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
   * Decides on all that the stream holds since the requests were begun. An attempt that is given up may land later, as
   * any append; the next one then finds its events, or keeps them from landing.
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
      await nextTurn(); // requests that are given up in one turn of the event loop share an append
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
    close: async (patienceMs) => {
      const patience = new AbortController();
      await Promise.race([
        settled(),
        delay(patienceMs, undefined, { signal: patience.signal }).catch(() => {}),
      ]);
      patience.abort();
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
