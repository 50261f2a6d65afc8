import { type ResolvedEvent, START, streamNameFilter } from "@eventstore/db-client";
import { type EventBatch, EventStoreUnavailable, type SubscribeOptions } from "../event-store.ts";
import { probeStream } from "./append-probe.ts";
import { isConsumerTooSlow, toUnavailable } from "./errors.ts";
import { fromPosition, toRecorded } from "./event-mapping.ts";
import type { LogReader } from "./log-reader.ts";
import { createPausedReader } from "./paused-reader.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

/** Events that the client holds ready, and those of one batch while there is a log to catch up with. */
const readAhead = 512;
const pageSize = 2_048;
const gatherMs = 100;
const beginning = -1;

interface Wanted {
  readonly after: number;
  readonly prefixes: readonly string[];
  /** A batch has said that it was caught up. */
  readonly live: boolean;
}

/** The subscriptions of one store. */
export const openSubscriptions = (kept: ReconnectingClient, reader: LogReader) => {
  const open = new Set<AbortController>();

  /** A position that is told is an event's own, or one that nothing was filtered out before. */
  async function* listen(
    { after, prefixes, live: wasLive }: Wanted,
    stop: AbortSignal,
  ): AsyncGenerator<EventBatch, void, undefined> {
    // However fast the log grows, what it held at first comes to an end.
    const head = wasLive ? undefined : await reader.head();
    const isFiltered = prefixes.length > 0 && (await beginsWell(reader, after, prefixes));
    const client = await kept.current();
    if (stop.aborted) return;
    const subscription = client.subscribeToAll(
      {
        fromPosition: after === beginning ? START : fromPosition(after),
        ...(isFiltered && { filter: streamNameFilter({ prefixes: [...prefixes], maxSearchWindow: 1_000 }) }),
      },
      { highWaterMark: readAhead },
    );
    const inbox = createPausedReader<ResolvedEvent>(subscription, stop);
    let position = after;
    let taken = 0;
    let liveAfter: number | undefined;
    let live = wasLive;
    // The client tells it at once, while events that came before it still wait to be taken.
    subscription.on("caughtUp", () => {
      liveAfter ??= taken + subscription.readableLength;
      inbox.poke();
    });

    /** What is there; a longer page while there is a log to catch up with. */
    const nextPage = async (): Promise<ResolvedEvent[]> => {
      const page = inbox.take(pageSize);
      const deadline = performance.now() + gatherMs;
      while (!live && liveAfter === undefined && page.length < pageSize && performance.now() < deadline) {
        if ((await inbox.more(deadline - performance.now())) !== "more" || stop.aborted) break;
        page.push(...inbox.take(pageSize - page.length));
      }
      taken += page.length;
      return page;
    };

    try {
      while (!stop.aborted) {
        const page = await nextPage();
        const told = page.map(toRecorded).filter((event) => event !== undefined);
        const last = told.at(-1)?.position ?? position;
        const isLive = live || (liveAfter !== undefined && taken >= liveAfter) || last >= (head ?? Infinity);
        if (last > position || isLive !== live) {
          position = last;
          live = isLive;
          yield { events: told.filter(({ stream }) => isWanted(stream, prefixes)), position, caughtUp: live };
        }
        if (page.length === 0 && (await inbox.more()) === "ended") {
          throw new EventStoreUnavailable("the event store ended the subscription");
        }
      }
    } catch (error) {
      kept.reportError(client, error);
      throw error;
    } finally {
      inbox.close();
      subscription.unsubscribe().catch(() => {});
    }
  }

  async function* follow(
    { after = beginning, prefixes = [] }: SubscribeOptions,
    stop: AbortSignal,
  ): AsyncGenerator<EventBatch, void, undefined> {
    let wanted: Wanted = { after, prefixes, live: false };
    while (!stop.aborted) {
      let heard = false;
      try {
        for await (const batch of listen(wanted, stop)) {
          heard = true;
          wanted = { after: batch.position, prefixes, live: batch.caughtUp };
          yield batch;
        }
      } catch (error) {
        if (stop.aborted) return;
        if (!(isConsumerTooSlow(error) && heard)) throw toUnavailable(error);
      }
    }
  }

  const start = (options: SubscribeOptions): AsyncIterator<EventBatch, void, undefined> => {
    const stop = new AbortController();
    const batches = follow(options, stop.signal);
    const end = (): void => {
      open.delete(stop);
      options.signal?.removeEventListener("abort", end);
      stop.abort();
    };
    open.add(stop);
    if (options.signal?.aborted) end();
    options.signal?.addEventListener("abort", end);
    return {
      next: async () => {
        try {
          const result = await batches.next();
          if (result.done) end();
          return result;
        } catch (error) {
          end();
          throw error;
        }
      },
      return: async () => {
        end();
        return await batches.return();
      },
    };
  };

  return {
    subscribe: (options: SubscribeOptions): AsyncIterable<EventBatch> => ({
      [Symbol.asyncIterator]: () => start(options),
    }),
    close: (): void => {
      for (const stop of open) stop.abort();
    },
  };
};

const isWanted = (stream: string, prefixes: readonly string[]): boolean =>
  prefixes.length === 0
    ? !stream.startsWith("$") && stream !== probeStream
    : prefixes.some((prefix) => stream.startsWith(prefix));

/**
 * Whether a filtered subscription may begin there. Servers of 23.10 pass over the first event that matches at or after the
 * position (Enumerator.AllSubscriptionFiltered, CatchUpFromCheckpoint): the one at the position had better match.
 */
const beginsWell = async (
  reader: LogReader,
  after: number,
  prefixes: readonly string[],
): Promise<boolean> => {
  if (after === beginning) return true;
  const event = await reader.at(after);
  return event !== undefined && isWanted(event.stream, prefixes);
};
