import type { EventBatch, RecordedEvent, SubscribeOptions } from "../event-store.ts";
import type { LogPage, ReaderProtocol, ScanStrategy } from "./protocol.ts";
import { throttle } from "./throttle.ts";
import type { WorkerLink } from "./worker-link.ts";

/** Follows the log with one page read ahead, unparsed: that is all that a slow consumer holds. */
async function* follow(
  reader: WorkerLink<ReaderProtocol>,
  subscriptionId: number,
  { after = 0, prefixes = [] }: SubscribeOptions,
  stop: AbortSignal,
): AsyncGenerator<EventBatch, void, undefined> {
  const ask = (position: number, wait: boolean, strategy?: ScanStrategy): Promise<LogPage> => {
    const page = reader.call("log", {
      subscriptionId,
      after: position,
      prefixes,
      wait,
      ...(strategy && { strategy }),
    });
    page.catch(() => {}); // told to whoever awaits it
    return page;
  };

  // What the log held at the first look: a log that grows faster than the consumer reads is caught up with all the same.
  let goal: number | undefined;
  let caughtUp = false;
  let told = after;
  let next = ask(after, false);
  while (!stop.aborted) {
    const page = await next;
    if (stop.aborted) return;
    goal ??= page.head;
    const first: boolean = !caughtUp && page.position >= goal;
    caughtUp ||= first;
    next = ask(page.position, caughtUp, page.strategy);
    if (!first && page.count === 0 && page.position === told) continue;
    told = page.position;
    yield { events: JSON.parse(page.json) as RecordedEvent[], position: told, caughtUp };
  }
}

/** Every page costs both threads a message and a query: under load they had better be long than many. */
const gustMs = 5;

/** The subscriptions of one store. */
export const openSubscriptions = (reader: WorkerLink<ReaderProtocol>) => {
  const open = new Set<AbortController>();
  let tickets = 0;

  const start = (options: SubscribeOptions): AsyncIterator<EventBatch, void, undefined> => {
    tickets += 1;
    const subscriptionId = tickets;
    const stop = new AbortController();
    const batches = follow(reader, subscriptionId, options, stop.signal);
    const end = (): void => {
      if (!open.delete(stop)) return;
      options.signal?.removeEventListener("abort", end);
      stop.abort();
      reader.post("forget", subscriptionId);
    };

    const next = async (): Promise<IteratorResult<EventBatch, void>> => {
      try {
        const result = await batches.next();
        if (result.done) end();
        return result;
      } catch (error) {
        const wasStopped = stop.signal.aborted;
        end();
        if (wasStopped) return { done: true, value: undefined };
        throw error;
      }
    };
    const finish = async (): Promise<IteratorResult<EventBatch, void>> => {
      end();
      return await batches.return();
    };

    open.add(stop);
    stop.signal.addEventListener("abort", end);
    if (options.signal?.aborted) end();
    options.signal?.addEventListener("abort", end);
    return { next, return: finish };
  };

  return {
    subscribe: (options: SubscribeOptions): AsyncIterable<EventBatch> => ({
      [Symbol.asyncIterator]: () => start(options),
    }),
    /** Own appends are heard at once, not at the next poll; many in a row are heard in gusts. */
    logHasGrown: throttle(gustMs, () => {
      if (open.size > 0) reader.post("wake", undefined);
    }),
    close(): void {
      for (const subscription of open) subscription.abort();
    },
  };
};
