import { randomUUID } from "node:crypto";
import { systemTime, type Time } from "../async/time.ts";
import type { EpochMs } from "../domain/time.ts";
import { type AppendResult, type EventStore, readEvent } from "./event-store.ts";
import { probeStream } from "./stream-prefix.ts";

/**
 * The time of an append by the store's clock, and the times by this process's clock between which
 * it happened.
 */
export interface AppendTimes {
  readonly created: EpochMs;
  readonly sent: EpochMs;
  readonly acknowledged: EpochMs;
}

interface AppendTimesOptions {
  readonly clock: () => EpochMs;
  readonly time?: Pick<Time, "now">;
  readonly onTimes: (times: AppendTimes) => void;
  /** True if `ping` must append an event, in order to report new times. */
  readonly isProbeNeeded: () => boolean;
}

/** At most one append in this time is read back. */
const intervalMs = 10_000;

/**
 * Reports the times of appends. Reads the last event of an append back, because the response to the
 * append does not hold the event's time. The first append and pings wait for this read, later
 * appends do not.
 */
export const withAppendTimes = (
  store: EventStore,
  { clock, time = systemTime, onTimes, isProbeNeeded }: AppendTimesOptions,
): EventStore => {
  let readAt = Number.NEGATIVE_INFINITY;
  const isDue = (): boolean => time.now() - readAt >= intervalMs;

  /** Resolves even if the store is unavailable, because a later append reports its times. */
  const report = async (
    stream: string,
    { revision, id, called, isProbe }: { revision: number; id: string; called: number; isProbe: boolean },
  ): Promise<void> => {
    const acknowledged = clock();
    const idTime = isProbe ? called : timeOf(id);
    if (idTime === undefined || !isDue()) return;
    const isFirst = readAt === Number.NEGATIVE_INFINITY;
    readAt = time.now();
    const sent = Math.min(called, idTime);
    const reading = readEvent(store, stream, { fromInclusive: revision }).then(
      (event) => {
        if (event?.id === id) onTimes({ created: event.created, sent, acknowledged });
        // Another process's probe has replaced this one. It was created after this one and before
        // this read.
        else if (event && isProbe) onTimes({ created: event.created, sent, acknowledged: clock() });
      },
      () => {},
    );
    if (isFirst || isProbe) await reading;
  };

  const appendAs = async (
    isProbe: boolean,
    ...[stream, events, expected]: Parameters<EventStore["append"]>
  ): Promise<AppendResult> => {
    const called = clock();
    const result = await store.append(stream, events, expected);
    await report(stream, { revision: result.revision, id: events.at(-1)?.id ?? "", called, isProbe });
    return result;
  };

  return {
    ...store,
    append: (...args) => appendAs(false, ...args),
    ping: async () => {
      if (!isProbeNeeded() || !isDue()) return await store.ping();
      // A probe is never repeated, so its id needs no time. A version 7 id of a wrong clock would
      // push the ids of later events into the future.
      const event = { id: randomUUID(), type: "AppendProbed", data: {}, metadata: { actor: "system" } };
      await store.setRetention(probeStream, { maxCount: 1 });
      await appendAs(true, probeStream, [event], "any");
    },
  };
};

/**
 * Reads the time in a version 7 UUID; undefined for other versions. An append may repeat an earlier
 * one whose outcome was unknown: then the event may have been created before this call, but not
 * before its id.
 */
const timeOf = (id: string): number | undefined =>
  id.charAt(14) === "7" ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) : undefined;
