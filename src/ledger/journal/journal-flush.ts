import {
  type Chained,
  type JournalClosed,
  type JournalEvent,
  type Link,
  linkEvents,
  type SynthesesServed,
} from "../../domain/ledger/journal/journal.ts";
import type { Serving, StreamEnd, VoidedServing } from "../../domain/ledger/journal/serving.ts";
import { ServingColumns } from "../../domain/ledger/journal/serving-columns.ts";
import type { AppendResult, NewEvent } from "../../eventstore/event-store.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import type { PendingEntries, PendingItems, PendingServing, WaitingEntries } from "./pending-entries.ts";

/** The events of one append, and the entries that they hold. */
export interface Flush {
  readonly at: string;
  readonly links: readonly Link[];
  /** The events have fixed ids, so that the append can be repeated. */
  readonly events: readonly NewEvent[];
  readonly servings: readonly PendingServing[];
  readonly voids: readonly VoidedServing[];
  readonly streams: readonly StreamEnd[];
  /** The number of all these entries. */
  readonly entries: number;
  readonly postedUpTo: number | undefined;
  readonly isClosing: boolean;
}

/** A durable event. Its `position` is that of its flush, at or after the event. */
export type FlushedEvent = JournalEvent & {
  readonly revision: number;
  readonly position: number;
  readonly digest: string;
  /** The numbers of the keys in `SynthesesServed`, in the order of its `keys`. */
  readonly keyNumbers?: readonly number[];
};

/**
 * Entries that were not durable when the journal was closed. Each void names the journal of its
 * serving.
 */
export interface LostEntries {
  readonly voids: readonly VoidedServing[];
  readonly streams: readonly StreamEnd[];
}

type CreateEvent = (chained: Chained) => JournalEvent;

/**
 * The types, metadata, links and member names of all events of a flush take at most this many
 * bytes.
 */
const envelopeBytes = 1_500;
/**
 * Voids and ends of streams are rare. A quarter for each leaves at least half of a flush for
 * servings.
 */
const backgroundShare = 1 / 4;

interface FlushLimits {
  readonly maxBytes: number;
  readonly maxServings: number;
}

/**
 * Takes entries up to the limits. Servings of a later month than that of the first serving stay for
 * a later flush.
 */
export const collectFlush = (
  pending: PendingEntries,
  chained: Chained,
  { maxBytes, maxServings }: FlushLimits,
  now: number,
): Flush => {
  const { postedUpTo } = pending;
  pending.postedUpTo = undefined;
  const background = (maxBytes - envelopeBytes) * backgroundShare;
  const voids = takeUpTo(pending.voids, background);
  const streams = takeUpTo(pending.streams, background);
  const columns = new ServingColumns();
  const forServings = maxBytes - envelopeBytes - voids.bytes - streams.bytes;
  const month = pending.servings.first?.month;
  const servings = pending.servings.takeWhile(
    (entry) =>
      entry.month === month && columns.length < maxServings && columns.add(entry.serving, forServings),
  );
  const create: CreateEvent[] = [];
  if (servings.length > 0) create.push((link) => ({ type: "SynthesesServed", data: columns.build(link) }));
  if (voids.items.length > 0)
    create.push((link) => ({ type: "ServingsVoided", data: { ...link, servings: voids.items } }));
  if (streams.items.length > 0)
    create.push((link) => ({ type: "StreamsEnded", data: { ...link, streams: streams.items } }));
  if (postedUpTo !== undefined)
    create.push((link) => ({ type: "JournalPosted", data: { ...link, through: postedUpTo } }));
  return {
    ...createEvents(create, chained, now),
    servings,
    voids: voids.items,
    streams: streams.items,
    entries: servings.length + voids.items.length + streams.items.length,
    postedUpTo,
    isClosing: false,
  };
};

export const closingFlush = (reason: JournalClosed["reason"], chained: Chained, now: number): Flush => ({
  ...createEvents([(link) => ({ type: "JournalClosed", data: { ...link, reason } })], chained, now),
  servings: [],
  voids: [],
  streams: [],
  entries: 0,
  postedUpTo: undefined,
  isClosing: true,
});

const createEvents = (create: readonly CreateEvent[], chained: Chained, now: number) => {
  const links = linkEvents(create, chained);
  const events = links.map(({ event }) => ({ ...event, id: uuidv7(now), metadata: { actor: "system" } }));
  return { at: chained.at, links, events };
};

/** Takes items while their JSON fits into the size, but at least one. */
const takeUpTo = <T>(pending: PendingItems<T>, maxBytes: number): { items: T[]; bytes: number } => {
  let bytes = 0;
  const items = pending.takeWhile((item) => {
    const size = Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > 0 && bytes + size > maxBytes) return false;
    bytes += size;
    return true;
  });
  return { items, bytes };
};

export const flushedEvents = (
  { links, servings }: Flush,
  { revision, position }: AppendResult,
): FlushedEvent[] => {
  const first = revision - links.length + 1;
  return links.map(({ event, digest }, index) => {
    const flushed = { ...event, revision: first + index, position, digest };
    return event.type === "SynthesesServed"
      ? { ...flushed, keyNumbers: keyNumbersOf(servings, event.data) }
      : flushed;
  });
};

/** The numbers of the keys of an event, in the order of its `keys`. */
const keyNumbersOf = (servings: readonly PendingServing[], { key }: SynthesesServed): number[] => {
  const numbers: number[] = [];
  for (let index = 0; index < key.length; index++)
    numbers[key[index] as number] = (servings[index] as PendingServing).keyNumber;
  return numbers;
};

/** The void of a serving whose caller was refused before its flush became durable. */
export const voidOf = (
  { apiKey, characters, engine, hash, requestId, voice }: Serving,
  servedAt: string,
): VoidedServing => ({ apiKey, characters, engine, hash, reason: "unanswered", requestId, servedAt, voice });

/**
 * Takes the voids and ends of streams of a flush that is not in the journal, and those that wait.
 */
export const takeLostEntries = (
  flush: Flush | undefined,
  waiting: WaitingEntries,
  journal: string,
): LostEntries => {
  const all = [waiting, waiting.refused];
  const voids = [...(flush?.voids ?? []), ...all.flatMap((entries) => entries.voids.takeAll())];
  return {
    voids: voids.map((one) => ({ ...one, journal: one.journal ?? journal })),
    streams: [...(flush?.streams ?? []), ...all.flatMap((entries) => entries.streams.takeAll())],
  };
};
