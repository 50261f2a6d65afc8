import {
  type AllStreamSubscription,
  type ResolvedEvent,
  START,
  streamNameFilter,
} from "@eventstore/db-client";
import { type EventBatch, EventStoreUnavailable } from "../event-store.ts";
import { probeStream } from "../stream-prefix.ts";
import { type Follow, isSelected, type Selection } from "../subscriptions.ts";
import { isConsumerTooSlow, toUnavailable } from "./errors.ts";
import { toClientPosition, toRecordedEvent } from "./event-mapping.ts";
import { fromLeader, type LogReader } from "./log-reader.ts";
import { createPausedReader } from "./paused-reader.ts";
import type { ReconnectingClient } from "./reconnecting-client.ts";

/** The number of events that the client buffers. */
const clientBufferSize = 512;
/** While catching up, a batch gathers up to this many events for up to this long. */
const maxBatchSize = 2_048;
const maxGatherMs = 100;
const searchWindow = 1_000;
const beforeFirst = -1;

interface ResumePoint {
  readonly fromExclusive: number;
  /** True if a batch with `caughtUp` was delivered before. */
  readonly caughtUp: boolean;
}

/**
 * Subscribes to $all, and again whenever the server ends the subscription because the consumer is
 * slow.
 */
export const createFollow = (client: ReconnectingClient, reader: LogReader): Follow =>
  async function* follow({ fromExclusive = beforeFirst, prefixes = [], except }, stopped) {
    let resume: ResumePoint = { fromExclusive, caughtUp: false };
    while (!stopped.aborted) {
      let hasDelivered = false;
      try {
        for await (const batch of subscribeOnce(client, reader, resume, { prefixes, except }, stopped)) {
          hasDelivered = true;
          resume = { fromExclusive: batch.position, caughtUp: batch.caughtUp };
          yield batch;
        }
      } catch (error) {
        if (!(isConsumerTooSlow(error) && hasDelivered)) throw toUnavailable(error);
      }
    }
  };

/**
 * Every reported position is that of an event: the server's checkpoints run ahead of the consumer,
 * and are ignored.
 */
async function* subscribeOnce(
  client: ReconnectingClient,
  reader: LogReader,
  { fromExclusive, caughtUp: wasCaughtUp }: ResumePoint,
  selection: Selection,
  stopped: AbortSignal,
): AsyncGenerator<EventBatch, void, undefined> {
  // The subscription has caught up at this position at the latest, also on a log that grows faster
  // than it is read.
  const target = wasCaughtUp ? undefined : await reader.lastPosition();
  const filter = await filterAfter(reader, fromExclusive, selection);
  const current = await client.current();
  if (stopped.aborted) return;
  const subscription = current.subscribeToAll(
    {
      ...fromLeader,
      fromPosition: fromExclusive === beforeFirst ? START : toClientPosition(fromExclusive),
      ...(filter && { filter }),
    },
    { highWaterMark: clientBufferSize },
  );
  const pages = createPageReader(subscription, stopped);
  let position = fromExclusive;
  let caughtUp = wasCaughtUp;
  try {
    while (!stopped.aborted) {
      const page = await pages.read(caughtUp);
      const events = page.map(toRecordedEvent).filter((event) => event !== undefined);
      const last = events.at(-1)?.position ?? position;
      const isNowCaughtUp = caughtUp || pages.hasCaughtUp() || last >= (target ?? Number.POSITIVE_INFINITY);
      if (last > position || isNowCaughtUp !== caughtUp) {
        position = last;
        caughtUp = isNowCaughtUp;
        yield { events: events.filter(({ stream }) => isIncluded(stream, selection)), position, caughtUp };
      }
      if (page.length === 0) await pages.wait();
    }
  } catch (error) {
    client.reportError(current, error);
    throw error;
  } finally {
    pages.close();
    subscription.unsubscribe().catch(() => {});
  }
}

const createPageReader = (subscription: AllStreamSubscription, stopped: AbortSignal) => {
  const reader = createPausedReader<ResolvedEvent>(subscription, stopped);
  let readCount = 0;
  /**
   * The number of events before the server's caught-up message. The client reports this message
   * ahead of buffered events.
   */
  let countAtCaughtUp: number | undefined;
  subscription.on("caughtUp", () => {
    countAtCaughtUp ??= readCount + subscription.readableLength;
    reader.wake();
  });

  const readUpTo = (max: number): ResolvedEvent[] => {
    const events = reader.read(max);
    readCount += events.length;
    return events;
  };

  return {
    hasCaughtUp: (): boolean => countAtCaughtUp !== undefined && readCount >= countAtCaughtUp,
    /** The buffered events. While catching up, gathers more. */
    read: async (isLive: boolean): Promise<ResolvedEvent[]> => {
      const page = readUpTo(maxBatchSize);
      const deadline = performance.now() + maxGatherMs;
      const mustGather = (): boolean =>
        !isLive &&
        countAtCaughtUp === undefined &&
        page.length < maxBatchSize &&
        performance.now() < deadline;
      while (mustGather()) {
        if ((await reader.wait(deadline - performance.now())) !== "readable" || stopped.aborted) break;
        page.push(...readUpTo(maxBatchSize - page.length));
      }
      return page;
    },
    /** @throws {EventStoreUnavailable} if the server ends the subscription */
    wait: async (): Promise<void> => {
      if ((await reader.wait()) === "ended") {
        throw new EventStoreUnavailable("the event store ended the subscription");
      }
    },
    close: reader.close,
  };
};

const isIncluded = (stream: string, selection: Selection): boolean =>
  isSelected(stream, selection) &&
  (selection.prefixes.length > 0 || (!stream.startsWith("$") && stream !== probeStream));

const filterFor = ({ prefixes, except }: Selection) => {
  const maxSearchWindow = searchWindow;
  if (except === undefined) return streamNameFilter({ prefixes: [...prefixes], maxSearchWindow });
  const anyPrefix = prefixes.map(escapeRegex).join("|");
  return streamNameFilter({ regex: `^(?!${escapeRegex(except)}$)(?:${anyPrefix})`, maxSearchWindow });
};

/**
 * The server's regular expressions are those of .NET, with lookaheads (EventFilter: `new
 * Regex(expected, RegexOptions.Compiled)`).
 */
const escapeRegex = (text: string): string => text.replace(/[\\*+?|{}[\]()^$.#\s]/g, "\\$&");

/**
 * The server's filter for a subscription after this position; undefined if it must read everything.
 * Servers of 23.10 skip the first matching event at or after the position
 * (Enumerator.AllSubscriptionFiltered, CatchUpFromCheckpoint). They must skip the event at the
 * position, which was delivered before, so the filter includes its stream too.
 */
const filterAfter = async (reader: LogReader, fromExclusive: number, selection: Selection) => {
  if (selection.prefixes.length === 0) return undefined;
  if (fromExclusive === beforeFirst) return filterFor(selection);
  const event = await reader.eventAt(fromExclusive);
  if (event === undefined || event.stream === selection.except) return undefined;
  if (isIncluded(event.stream, selection)) return filterFor(selection);
  return filterFor({ ...selection, prefixes: [...selection.prefixes, event.stream] });
};
