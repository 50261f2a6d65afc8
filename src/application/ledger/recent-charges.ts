import { type Clock, systemClock } from "../../async/clock.ts";
import { untilAborted, withDeadline } from "../../async/deadline.ts";
import { shareNext } from "../../async/share-next.ts";
import { Unavailable } from "../../domain/errors.ts";
import { type JournalEvent, journalPrefix, journalStream } from "../../domain/ledger/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal-registry.ts";
import { RecentObjects } from "../../domain/ledger/recent-objects.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { type Following, follow } from "../../eventstore/follow-events.ts";
import { throwUnavailable } from "../store-error.ts";
import { readRegistryBackwards } from "./journal/journal-registry.ts";
import { readLedgerEnd } from "./journal/ledger-end.ts";

/** The objects for which keys were charged within 10 minutes, by any process. */
export interface RecentCharges {
  wasCharged(apiKey: string, hash: string): boolean;
  /** Resolves when everything that any process recorded before the call is included. @throws {Unavailable} */
  catchUp(): Promise<void>;
  /** Adds durable events of this process. */
  add(events: readonly JournalEvent[]): void;
  /**
   * Follows all journals but this process's own, from the log position at which that one was opened. Call it again when the
   * process opens its next journal. The first call also reads the last 10 minutes.
   * @throws {EventStoreUnavailable}
   */
  follow(ownJournal: string, position: number): Promise<void>;
  close(): void;
}

export interface RecentChargesOptions {
  readonly store: EventStore;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly timers?: Clock;
  /** Called with the durable events of other processes, from the first journal's opening on. */
  readonly onFollowed?: (events: readonly JournalEvent[]) => void;
  /** Called when the subscription fails. It is repeated. */
  readonly onError?: (what: string, error: unknown) => void;
}

/** A part of an object is free for this long after its key was charged for the object. */
const freePartMs = 10 * 60_000;
/** Usually the other journals' events are followed within milliseconds. */
const maxCatchUpMs = 5_000;
/** Those that come during a read wait for the next one, which must have time too. */
const maxEndReadMs = 2_000;
/** Bounds the start of a process after ten busy minutes. */
const maxServingsRead = 500_000;

export const createRecentCharges = ({
  store,
  clock,
  timers = systemClock,
  onFollowed = () => {},
  onError = () => {},
}: RecentChargesOptions): RecentCharges => {
  const objects = new RecentObjects(freePartMs);
  let following: Following | undefined;
  let position = -1;
  let isClosed = false;
  let nextBatch = Promise.withResolvers<void>();
  /** Their events are added when they are durable. Each event must be added once, because charges are counted. */
  const ownStreams = new Set<string>();

  const isOthersJournal = (stream: string): boolean =>
    stream.startsWith(journalPrefix) && !ownStreams.has(stream);
  const isLeftOut = (stream: string): boolean => ownStreams.has(stream);
  const readEndOfOthers = shareNext(() =>
    withDeadline({ clock: timers, ms: maxEndReadMs, onTimeout: notFollowed }, () =>
      readLedgerEnd(store, { isLeftOut }),
    ),
  );
  const add = (events: readonly JournalEvent[]): void => {
    for (const event of events) addEvent(objects, event);
  };

  return {
    wasCharged: (apiKey, hash) => objects.has(apiKey, hash, clock()),
    catchUp: () =>
      withDeadline({ clock: timers, ms: maxCatchUpMs, onTimeout: notFollowed }, async (signal) => {
        const end = await readEndOfOthers().catch(throwUnavailable);
        while (position < end) await untilAborted(nextBatch.promise, signal);
      }),
    add,
    follow: async (ownJournal, openedPosition) => {
      if (following === undefined) {
        position = openedPosition;
        await readRecent(store, objects, { since: clock() - freePartMs, upTo: openedPosition });
      }
      if (isClosed) return;
      const ownStream = journalStream(ownJournal);
      ownStreams.add(ownStream);
      following?.close();
      following = follow({
        store,
        prefixes: [journalPrefix, journalRegistryStream],
        except: ownStream,
        after: position,
        onBatch: (batch) => {
          const events = batch.events.filter(({ stream }) => isOthersJournal(stream));
          const others = events as unknown as readonly JournalEvent[];
          add(others);
          onFollowed(others);
          position = batch.position;
          nextBatch.resolve();
          nextBatch = Promise.withResolvers();
        },
        onError: (error) => onError("the journals of other instances cannot be followed", error),
        timers,
      });
    },
    close: () => {
      isClosed = true;
      following?.close();
    },
  };
};

const notFollowed = (): Unavailable =>
  new Unavailable("What other instances have recorded cannot be read now.", 1);

const addEvent = (objects: RecentObjects, event: JournalEvent): void => {
  if (event.type === "SynthesesServed") {
    const { keys, sounds, key, sound, characters } = event.data;
    const at = Date.parse(event.data.at);
    for (let index = 0; index < characters.length; index++) {
      const apiKey = keys[key[index] ?? -1];
      const hash = sounds[sound[index] ?? -1]?.hash;
      if (characters[index] !== 0 && apiKey !== undefined && hash !== undefined)
        objects.add(apiKey, hash, at);
    }
  } else if (event.type === "ServingsVoided") {
    for (const { apiKey, hash, servedAt } of event.data.servings)
      objects.delete(apiKey, hash, Date.parse(servedAt));
  }
};

/** Reads the journals that were open within the window up to a position, the newest events first. */
const readRecent = async (
  store: EventStore,
  objects: RecentObjects,
  { since, upTo }: { readonly since: number; readonly upTo: number },
): Promise<void> => {
  let servingsLeft = maxServingsRead;
  const voids: JournalEvent[] = [];
  for (const journal of await recentJournals(store, since)) {
    for await (const recorded of store.readStream(journalStream(journal), { direction: "backwards" })) {
      if (recorded.position > upTo) continue;
      const event = recorded as unknown as JournalEvent;
      if (Date.parse(event.data.at) < since || servingsLeft <= 0) break;
      if (event.type === "ServingsVoided") voids.push(event);
      else addEvent(objects, event);
      if (event.type === "SynthesesServed") servingsLeft -= event.data.requestIds.length;
    }
  }
  // A void comes after its serving.
  for (const event of voids) addEvent(objects, event);
};

/** Those that are open, and those that were retired since. */
const recentJournals = async (store: EventStore, since: number): Promise<Set<string>> => {
  const journals = new Set<string>();
  for await (const { data } of readRegistryBackwards(store)) {
    for (const journal of data.open) journals.add(journal);
    if (Date.parse(data.at) < since) break;
    journals.add(data.journal);
  }
  return journals;
};
