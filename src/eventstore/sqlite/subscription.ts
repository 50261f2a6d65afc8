import type { EventBatch, RecordedEvent } from "../event-store.ts";
import { createSubscriptions, isSelected, type Selection } from "../subscriptions.ts";
import type { LogPage, ReaderProtocol, ScanStrategy } from "./protocol.ts";
import type { WorkerClient } from "./worker-rpc.ts";

/**
 * Every page costs both threads a message and a query: under load, few large pages are cheaper than
 * many small ones.
 */
const minWakeIntervalMs = 5;

/** Opens the subscriptions of one store, and the function that wakes those that wait for events. */
export const openSubscriptions = (reader: WorkerClient<ReaderProtocol>) => {
  let lastId = 0;
  const selections = new Map<number, Selection>();
  const wakeReader = throttle(minWakeIntervalMs, () => reader.post("wake", undefined));

  /**
   * Prefetches only one page, and does not parse it, so that a slow consumer takes little memory.
   */
  async function* readPages(
    subscriptionId: number,
    fromExclusive: number,
    selection: Selection,
    maxLagMs: number,
    stopped: AbortSignal,
  ): AsyncGenerator<EventBatch, void, undefined> {
    stopped.addEventListener("abort", () => reader.post("forget", subscriptionId));
    const fetch = (
      position: number,
      { wait, isBehind = false, strategy }: { wait: boolean; isBehind?: boolean; strategy?: ScanStrategy },
    ): Promise<LogPage> => {
      const options = {
        subscriptionId,
        fromExclusive: position,
        ...selection,
        wait,
        maxLagMs: isBehind ? 0 : maxLagMs,
        ...(strategy && { strategy }),
      };
      const page = reader.call("log", options);
      page.catch(() => {}); // The page may fail before it is awaited.
      return page;
    };

    // The subscription has caught up once it reaches the log's end as of the first page: a log may
    // grow faster than it is read.
    let target: number | undefined;
    let caughtUp = false;
    let position = fromExclusive;
    let next = fetch(fromExclusive, { wait: false });
    while (!stopped.aborted) {
      const page = await next;
      if (stopped.aborted) return;
      target ??= page.head;
      const isFirstCaughtUp: boolean = !caughtUp && page.position >= target;
      caughtUp ||= isFirstCaughtUp;
      const isBehind = page.position < page.head;
      next = fetch(page.position, { wait: caughtUp, isBehind, strategy: page.strategy });
      if (!isFirstCaughtUp && page.count === 0 && page.position === position) continue;
      position = page.position;
      yield { events: JSON.parse(page.json) as RecordedEvent[], position, caughtUp };
    }
  }

  const subscriptions = createSubscriptions(async function* follow(
    { fromExclusive = 0, prefixes = [], except, maxLagMs = 0 },
    stopped,
  ) {
    const id = ++lastId;
    const selection = { prefixes, except };
    selections.set(id, selection);
    try {
      yield* readPages(id, fromExclusive, selection, maxLagMs, stopped);
    } finally {
      selections.delete(id);
    }
  });

  return {
    ...subscriptions,
    /** Delivers own appends to the stream at once, instead of at the next poll. */
    wake: (stream: string): void => {
      if (selections.values().some((selection) => isSelected(stream, selection))) wakeReader();
    },
  };
};

/** Runs the action at once, and at the end of each interval in which it was called again. */
const throttle = (intervalMs: number, run: () => void): (() => void) => {
  let isWaiting = false;
  let isCalledAgain = false;
  const start = (): void => {
    isWaiting = true;
    isCalledAgain = false;
    setTimeout(() => {
      isWaiting = false;
      if (isCalledAgain) start();
    }, intervalMs).unref();
    run();
  };
  return () => {
    if (isWaiting) isCalledAgain = true;
    else start();
  };
};
