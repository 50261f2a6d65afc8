import { untilAborted, withDeadline } from "../../async/deadline.ts";
import { shareNext } from "../../async/share-next.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { inTimeSlices } from "../../async/time-slices.ts";
import { findKeyNumber, keyNumberOf } from "../../domain/accounts/key-numbers.ts";
import { Unavailable } from "../../domain/errors.ts";
import { ChargedHashes } from "../../domain/ledger/journal/charged-hashes.ts";
import { type JournalEvent, journalPrefix, journalStream } from "../../domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../domain/ledger/journal/journal-registry.ts";
import type { ServedAudio, Serving, ServingDetails } from "../../domain/ledger/journal/serving.ts";
import { expandServings } from "../../domain/ledger/journal/serving-columns.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { EventBatch, EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { type Following, follow } from "../../eventstore/follow-events.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { FlushedEvent } from "../journal/journal-flush.ts";
import { journalsSince, readLedgerEnd } from "../journal/journal-registry.ts";

interface RecentChargesOptions {
  readonly store: EventStore;
  readonly clock: () => EpochMs;
  readonly time?: Time;
  /** Called with the followed events of journals and of the registry. */
  readonly onBatch?: (events: readonly RecordedEvent[]) => void;
  /** Called with the durable events of other processes, after the first own journal was opened. */
  readonly onFollowed?: (events: readonly JournalEvent[]) => void;
  /** Called once, before `onFollowed`: events up to this position of the log are not followed. */
  readonly onFollowing?: (fromExclusive: number) => void;
  /** Called when the subscription has failed, before the next attempt. */
  readonly onError?: (what: string, error: unknown) => void;
}

type OwnEvent = JournalEvent & Pick<FlushedEvent, "keyNumbers">;

/** A part of audio is free for this long after the key was charged for the audio. */
const freePartMs = 10 * 60_000;
/** Usually the events of other journals arrive within a tenth of a second. */
const maxCatchUpMs = 5_000;
/**
 * The events of other processes are collected for this long, because a batch costs as much as
 * several events.
 */
const maxLagMs = 100;
/** Callers that arrive during a read wait for the next one, which must also end in time. */
const maxEndReadMs = 2_000;
/** Bounds the time that a process takes to start after ten busy minutes. */
const maxServingsRead = 500_000;

/** The audio for which keys were charged in the last 10 minutes, by any process. */
export class RecentCharges {
  readonly #options: Required<RecentChargesOptions>;
  #hashes = new ChargedHashes(freePartMs);
  #following: Following | undefined;
  #position = -1;
  #isClosed = false;
  #nextBatch = Promise.withResolvers<void>();
  /**
   * The journals of this process. Their events are added when they are durable, and must not be
   * added twice, because charges are counted.
   */
  readonly #ownStreams = new Set<string>();

  constructor(options: RecentChargesOptions) {
    this.#options = {
      time: systemTime,
      onBatch: () => {},
      onFollowed: () => {},
      onFollowing: () => {},
      onError: () => {},
      ...options,
    };
  }

  wasCharged(apiKey: string, hash: string): boolean {
    const keyNumber = findKeyNumber(apiKey);
    return keyNumber !== undefined && this.#hashes.has(keyNumber, hash, this.#options.clock());
  }

  /**
   * True if a charge within ten minutes pays for the part. The audio of free engines is public: a
   * charge pays for all of its parts. A charge of private audio pays for as many bytes as the audio
   * has.
   */
  isPaid({ apiKey, hash, part }: Pick<Serving, "apiKey" | "hash" | "part">): boolean {
    if (!this.wasCharged(apiKey, hash)) return false;
    const unsent = this.#hashes.unsent(findKeyNumber(apiKey) as number, hash, this.#options.clock());
    return part === undefined || countedBytes(part) <= unsent;
  }

  /**
   * Counts a paid part of private audio. Call it once for each such part that this process sends.
   * The returned function undoes the count.
   */
  send({ apiKey, hash, part }: Pick<Serving, "apiKey" | "hash" | "part">): () => void {
    const keyNumber = findKeyNumber(apiKey);
    const bytes = part ? countedBytes(part) : 0;
    if (keyNumber === undefined || bytes === 0) return () => {};
    this.#hashes.send(keyNumber, hash, bytes);
    return () => this.#hashes.send(keyNumber, hash, -bytes);
  }

  /** Adds durable events of this process. Their paid parts were counted by `send`. */
  readonly add = (events: readonly OwnEvent[]): void => {
    for (const event of events) addEvent(this.#hashes, event);
  };

  /**
   * Resolves when everything that any process recorded before the call is included.
   * @throws {Unavailable}
   */
  async catchUp(): Promise<void> {
    await this.#withDeadline(maxCatchUpMs, async (signal) => {
      const end = await this.#readEndOfOthers().catch(throwUnavailable);
      while (this.#position < end) await untilAborted(this.#nextBatch.promise, signal);
    });
  }

  readonly #readEndOfOthers = shareNext(() =>
    this.#withDeadline(maxEndReadMs, () =>
      readLedgerEnd(this.#options.store, { isLeftOut: (stream) => this.#ownStreams.has(stream) }),
    ),
  );

  #withDeadline<T>(ms: number, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline({ time: this.#options.time, ms, onTimeout: notFollowed }, task);
  }

  /**
   * Follows all journals but this process's own, from the log position at which its own was opened.
   * Call it again when the process opens its next journal. The first call also reads the last 10
   * minutes.
   * @throws {EventStoreUnavailable}
   */
  async follow(ownJournal: string, position: number): Promise<void> {
    const { store, clock, time, onError } = this.#options;
    if (this.#following === undefined) {
      this.#position = position;
      // This is assigned only after a complete read, so that a repeated read adds no event twice.
      this.#hashes = await readRecent(store, { fromInclusive: clock() - freePartMs, upTo: position });
    }
    if (this.#isClosed) return;
    if (this.#following === undefined) this.#options.onFollowing(position);
    const ownStream = journalStream(ownJournal);
    this.#ownStreams.add(ownStream);
    this.#following?.close();
    this.#following = follow({
      store,
      prefixes: [journalPrefix, journalRegistryStream],
      except: ownStream,
      fromExclusive: this.#position,
      maxLagMs,
      onBatch: this.#addBatch,
      onError: (error) => onError("the journals of other instances cannot be followed", error),
      time,
    });
  }

  readonly #addBatch = (batch: EventBatch): void => {
    const ofOthers = batch.events.filter(({ stream }) => !this.#ownStreams.has(stream));
    const others = ofOthers.filter(({ stream }) =>
      stream.startsWith(journalPrefix),
    ) as unknown as readonly JournalEvent[];
    for (const event of others) {
      addEvent(this.#hashes, event);
      addSentParts(this.#hashes, event);
    }
    this.#options.onBatch(ofOthers);
    this.#options.onFollowed(others);
    this.#position = batch.position;
    this.#nextBatch.resolve();
    this.#nextBatch = Promise.withResolvers();
  };

  close(): void {
    this.#isClosed = true;
    this.#following?.close();
  }
}

const notFollowed = (): Unavailable =>
  new Unavailable("What other instances have recorded cannot be read now.", 1);

const addEvent = (hashes: ChargedHashes, event: OwnEvent): void => {
  if (event.type === "SynthesesServed") {
    const { keys, sounds, key, sound, characters, details } = event.data;
    const keyNumbers = event.keyNumbers ?? keys.map(keyNumberOf);
    const at = Date.parse(event.data.at);
    for (let index = 0; index < characters.length; index++) {
      if (characters[index] === 0) continue;
      const keyNumber = keyNumbers[key[index] as number] as number;
      const { hash } = sounds[sound[index] as number] as ServedAudio;
      hashes.add(keyNumber, hash, at, unsentOf(details?.[index]));
    }
  } else if (event.type === "ServingsVoided") {
    for (const { apiKey, hash, servedAt } of event.data.servings) {
      const keyNumber = findKeyNumber(apiKey);
      if (keyNumber !== undefined) hashes.delete(keyNumber, hash, Date.parse(servedAt));
    }
  }
};

/**
 * Counts the parts of private audio that were sent without a charge, because they were paid for.
 */
const addSentParts = (hashes: ChargedHashes, event: JournalEvent): void => {
  if (event.type !== "SynthesesServed" || event.data.details === undefined) return;
  for (const { apiKey, hash, characters, part, repeat } of expandServings(event.data)) {
    if (part && characters === 0 && !repeat) hashes.send(keyNumberOf(apiKey), hash, countedBytes(part));
  }
};

/** Safari requests the first two bytes of audio before it requests all of it. */
const probeBytes = 2;

const countedBytes = ({ bytes }: { readonly bytes: number }): number => (bytes <= probeBytes ? 0 : bytes);

/**
 * Counts the bytes that a charge pays for but that were not sent with it; 0 after a complete
 * response.
 */
const unsentOf = ({ part }: Pick<ServingDetails, "part"> = {}): number =>
  part ? part.size - countedBytes(part) : 0;

/**
 * Reads the charges of the time window, up to a log position, from the journals that were open in
 * it. From each journal it reads at most an equal share of `maxServingsRead`, the newest first.
 */
const readRecent = async (
  store: EventStore,
  { fromInclusive, upTo }: { readonly fromInclusive: number; readonly upTo: number },
): Promise<ChargedHashes> => {
  const hashes = new ChargedHashes(freePartMs);
  const served: (JournalEvent & RecordedEvent)[] = [];
  const voids: JournalEvent[] = [];
  const journals = await journalsSince(store, ({ data }) => Date.parse(data.at) < fromInclusive);
  for (const journal of journals) {
    let servingsLeft = maxServingsRead / journals.size;
    for await (const recorded of store.readStream(journalStream(journal), { direction: "backwards" })) {
      if (recorded.position > upTo) continue;
      const event = recorded as unknown as JournalEvent & RecordedEvent;
      if (Date.parse(event.data.at) < fromInclusive || servingsLeft <= 0) break;
      if (event.type === "ServingsVoided") voids.push(event);
      if (event.type !== "SynthesesServed") continue;
      served.push(event);
      servingsLeft -= event.data.requestIds.length;
    }
  }
  served.sort((a, b) => a.position - b.position);
  for await (const event of inTimeSlices(served)) {
    addEvent(hashes, event);
    addSentParts(hashes, event);
  }
  // A void comes after its serving.
  for (const event of voids) addEvent(hashes, event);
  return hashes;
};
