import { systemTime, type Time } from "../../async/time.ts";
import { inTimeSlices } from "../../async/time-slices.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import { openEnd } from "../../domain/ledger/accounts/revision-ranges.ts";
import type { AccountId } from "../../domain/ledger/accounts/usage-account.ts";
import { postedTotals } from "../../domain/ledger/accounts/usage-sum.ts";
import {
  type JournalEvent,
  journalPrefix,
  journalStream,
  journalTypes,
} from "../../domain/ledger/journal/journal.ts";
import type { JournalRegistryEvent } from "../../domain/ledger/journal/journal-registry.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { readUntil } from "../../eventstore/read-until.ts";
import { readPostedUpTo } from "../journal/journal-reader.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";
import { FollowedJournal } from "./followed-journal.ts";
import type { KnownJournal, UnpostedEntries } from "./unposted-entries.ts";

/** The totals of entries at the time of a snapshot. */
export interface KnownTotals extends ReturnType<typeof postedTotals> {
  readonly fromInclusive: number;
  readonly toInclusive: number;
  readonly entries: UnpostedEntries;
}

/** The known entries of some accounts at one moment. */
export interface KnownSnapshot {
  /**
   * The snapshot is valid only for reads that show the log at least up to this position. If there
   * is an `account`, they must also show that account's stream up to this position.
   */
  readonly position: number;
  readonly account: AccountId | undefined;
  /**
   * The revisions up to which everything is posted, by journal; undefined where the journal must be
   * read to know it.
   */
  readonly postedUpTo: ReadonlyMap<string, number | undefined>;
  partsOf(account: AccountId): ReadonlyMap<string, KnownPart>;
}

export interface KnownPart {
  readonly fromInclusive: number;
  readonly toInclusive: number;
  readonly totals: readonly KnownTotals[];
}

interface CatchUpOptions {
  readonly upTo: number;
  readonly onEvent: (event: JournalEvent & RecordedEvent) => void;
}

const noEvents: CatchUpOptions = { upTo: -1, onEvent: () => {} };
/** Bounds the memory: a sum takes 300 bytes, and about two more for each of its servings. */
const maxFollowedEntries = 200_000;

/**
 * The unposted entries that this process knows. It knows those of its own journals from its
 * postings, and those of all other journals from their events, which it follows. Entries that are
 * missing here are read from the journals.
 */
export class KnownEntries {
  readonly #own = new Map<string, KnownJournal>();
  readonly #followed = new Map<string, FollowedJournal>();
  readonly #maxFollowed: number;
  readonly #time: Time;

  constructor({
    maxFollowed = maxFollowedEntries,
    time = systemTime,
  }: { readonly maxFollowed?: number; readonly time?: Time } = {}) {
    this.#maxFollowed = maxFollowed;
    this.#time = time;
  }

  addOwn(journal: string, known: KnownJournal): void {
    this.#own.set(journal, known);
  }

  /**
   * Adds events of the registry, and of journals of other processes. Events that were added before
   * are left out.
   */
  readonly follow = (events: readonly RecordedEvent[]): void => {
    for (const event of events) {
      if (isOfType<JournalRegistryEvent, RecordedEvent>(event, ["JournalRetired"])) {
        this.#own.delete(event.data.journal);
        this.#followed.delete(event.data.journal);
      } else if (event.stream.startsWith(journalPrefix)) this.#add(event);
    }
  };

  #add(event: RecordedEvent): void {
    const journal = event.stream.slice(journalPrefix.length);
    if (this.#own.has(journal)) return;
    const known = this.#followed.get(journal);
    // Another program may have any number of streams whose names begin like those of journals.
    if (!known && !isOfType<JournalEvent, RecordedEvent>(event, journalTypes)) return;
    // After a gap in the revisions, what was followed before is forgotten.
    const followed =
      known && event.revision <= known.toInclusive + 1 ? known : new FollowedJournal(event.revision);
    this.#followed.set(journal, followed);
    followed.add(event as unknown as JournalEvent & RecordedEvent);
    this.#forgetIfTooMany();
  }

  /**
   * Reads the unposted entries of other processes' journals that were recorded before this process
   * followed them. `onEvent` is called with each of their events up to the log position `upTo`.
   * After an error, call it again.
   * @throws {EventStoreUnavailable}
   */
  async catchUp(store: EventStore, { upTo, onEvent }: CatchUpOptions = noEvents): Promise<void> {
    const journals = new Set(await listOpenJournals(store));
    // Journals that have left the registry since that position are included, too.
    if (upTo >= 0) for (const journal of await listOpenJournals(store, upTo - 1)) journals.add(journal);
    for (const journal of journals) {
      if (this.#own.has(journal)) continue;
      await this.#readUnposted(store, journal, (event) => {
        if (event.position <= upTo) onEvent(event);
      });
    }
    const open = await listOpenJournals(store);
    for (const journal of this.#followed.keys()) if (!open.includes(journal)) this.#followed.delete(journal);
  }

  async #readUnposted(store: EventStore, journal: string, onEvent: CatchUpOptions["onEvent"]): Promise<void> {
    const postedUpTo = await readPostedUpTo(store, journal);
    const read = new FollowedJournal(postedUpTo + 1, postedUpTo);
    if (!this.#followed.has(journal)) this.#followed.set(journal, read);
    /** Returns the followed part of the journal, unless that is `read` itself. */
    const followed = (): FollowedJournal | undefined => {
      const one = this.#followed.get(journal);
      return one === read ? undefined : one;
    };
    /**
     * Resolves with false if events are missing between the last one that was read and the first
     * one that is followed.
     */
    const readOn = async (): Promise<boolean> => {
      for await (const event of store.readStream(journalStream(journal), {
        fromInclusive: read.toInclusive + 1,
      })) {
        if (event.revision >= (followed()?.fromInclusive ?? openEnd)) break;
        const journalEvent = event as unknown as JournalEvent & RecordedEvent;
        onEvent(journalEvent);
        read.add(journalEvent);
      }
      const later = followed();
      return later === undefined || later.fromInclusive <= read.toInclusive || later.prepend(read);
    };
    // In a cluster, the missing events may be lost with their leader: then this gives up, and
    // reports read the journal.
    await readUntil((isComplete) => isComplete, { time: this.#time }, readOn);
    this.#forgetIfTooMany();
  }

  #forgetIfTooMany(): void {
    let size = 0;
    for (const one of this.#followed.values()) size += one.size;
    if (size > this.#maxFollowed) this.#followed.clear();
  }

  async snapshot(accounts: readonly AccountId[]): Promise<KnownSnapshot> {
    // The postings of an own journal know all of its unposted entries, so they replace the events
    // of it that were followed before `addOwn`.
    const journals = new Map<string, KnownJournal>([...this.#followed, ...this.#own]);
    const postedUpTo = new Map([...journals].map(([journal, known]) => [journal, known.postedUpTo]));
    const parts = new Map<AccountId, Map<string, KnownPart>>();
    let [position, lastPosted] = [-1, -1];
    let lastAccount: AccountId | undefined;
    for await (const account of inTimeSlices(accounts)) {
      const ofAccount = new Map<string, KnownPart>();
      for (const [journal, known] of journals) {
        const { fromInclusive, entries, position: posted = -1 } = known.entriesOf(account);
        ofAccount.set(journal, {
          fromInclusive,
          toInclusive: known.toInclusive,
          totals: entries.map(totalsOf),
        });
        if (posted > lastPosted) [lastPosted, lastAccount] = [posted, account];
      }
      parts.set(account, ofAccount);
    }
    for (const known of journals.values()) position = Math.max(position, known.position);
    return {
      position: Math.max(position, lastPosted),
      account: lastAccount,
      postedUpTo,
      partsOf: (account) => parts.get(account) ?? noParts,
    };
  }
}

const noParts: ReadonlyMap<string, KnownPart> = new Map();

const totalsOf = (entries: UnpostedEntries): KnownTotals => ({
  ...postedTotals(entries),
  fromInclusive: entries.fromInclusive,
  toInclusive: entries.toInclusive,
  entries,
});
