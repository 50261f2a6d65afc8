import type { Time } from "../../../src/async/time.ts";
import { keyNumberOf } from "../../../src/domain/accounts/key-numbers.ts";
import { JournalTakenOver } from "../../../src/domain/ledger/journal/journal.ts";
import { QuotaExceeded } from "../../../src/domain/ledger/quota/quota.ts";
import { createCommandHandler } from "../../../src/eventstore/command-handler.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  WrongExpectedRevision,
} from "../../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { type Hold, Reservations } from "../../../src/ledger/quota/reservations.ts";

/** An entry of a test journal: charged characters, or voided ones if negative. */
export interface Entry {
  readonly apiKey: string;
  readonly month: string;
  readonly characters: number;
}

export type Outcome = "served" | "exceeded" | "unavailable" | "failed";

/** What a request does between the hold of its characters and its charge. */
export interface Work {
  readonly ms: number;
  readonly fails: boolean;
}

export interface InstanceOptions {
  readonly name: string;
  readonly store: EventStore;
  readonly time: Time;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: () => number;
  readonly deadlineMs?: number;
  readonly onExceeded?: (exceeded: QuotaExceeded, characters: number) => void;
}

const journalStream = (journal: string): string => `journal-${journal}`;

/**
 * A process that charges characters to quotas: the real reservations with a minimal journal writer.
 */
export class QuotaInstance {
  readonly #options: InstanceOptions;
  readonly #handler;
  #session: Session;
  #sessions = 1;
  #held = 0;

  constructor(options: InstanceOptions) {
    this.#options = options;
    const { store, time, clock, random, deadlineMs = 5_000 } = options;
    this.#handler = createCommandHandler({ store, time, clock, random, deadlineMs });
    this.#session = this.#open();
  }

  /**
   * Charges the characters. `quota` null: without a limit. With `work` they are held first, and
   * charged after it.
   */
  async request(
    apiKey: string,
    month: string,
    characters: number,
    quota: number | null,
    work?: Work,
  ): Promise<Outcome> {
    let hold: Hold | undefined;
    for (;;) {
      const { reservations } = this.#session;
      try {
        if (work && quota !== null && !hold) {
          hold = reservations.hold(apiKey, month, characters, quota);
          if (!hold) {
            await reservations.reserve(apiKey, month, characters, quota);
            continue;
          }
          this.#held += characters;
          await new Promise<void>((resolve) => this.#options.time.after(work.ms, resolve));
          this.#held -= characters;
          if (work.fails) {
            hold.release();
            return "failed";
          }
        }
        const { reservations: current, journal } = this.#session;
        const isHeld = hold?.take(current, month, characters) ?? false;
        while (!isHeld && !current.trySpend(keyNumberOf(apiKey), month, characters, quota)) {
          await current.reserve(apiKey, month, characters, quota ?? 0);
        }
        await journal.add({ apiKey, month, characters });
        return "served";
      } catch (error) {
        if (error instanceof JournalTakenOver) continue;
        if (!(error instanceof QuotaExceeded)) return "unavailable";
        this.#options.onExceeded?.(error, characters);
        return "exceeded";
      }
    }
  }

  /** Returns the charge of an earlier request. */
  async void(apiKey: string, month: string, characters: number): Promise<void> {
    const { reservations, journal } = this.#session;
    await journal.add({ apiKey, month, characters: -characters }).catch(() => {});
    if (!journal.isTakenOver) reservations.refund(apiKey, month, characters);
  }

  /** Characters that are being appended, or held. */
  get inFlight(): number {
    return this.#session.journal.inFlight + this.#held;
  }

  get journal(): string {
    return this.#session.journal.name;
  }

  get sessions(): number {
    return this.#sessions;
  }

  close(): Promise<void> {
    return this.#session.reservations.close();
  }

  #open(): Session {
    const { name, store, time, clock } = this.#options;
    const journal = new TestJournal(store, `${name}.${this.#sessions}`, time);
    const replace = (): void => {
      if (this.#session.journal !== journal) return;
      this.#sessions += 1;
      this.#session = this.#open();
    };
    const reservations = new Reservations({
      journal: journal.name,
      handler: this.#handler,
      store,
      fromExclusive: -1,
      time,
      clock,
      waitForAppends: () => journal.flushed(),
      takeOver: (other) => closeJournal(store, other),
      spentBy: (other, apiKey, month) => spentBy(store, other, apiKey, month),
      onTakenOver: replace,
    });
    journal.onTakenOver = () => {
      reservations.takenOver();
      replace();
    };
    return { reservations, journal };
  }
}

interface Session {
  readonly reservations: Reservations;
  readonly journal: TestJournal;
}

/** Appends entries one batch at a time, each with the exact expected revision. */
class TestJournal {
  readonly name: string;
  readonly #store: EventStore;
  readonly #time: Time;
  readonly #waiting: { entry: Entry; resolve: () => void; reject: (error: unknown) => void }[] = [];
  #flush: Promise<void> | undefined;
  #revision = -1;
  #sending: readonly Entry[] = [];
  isTakenOver = false;
  onTakenOver = (): void => {};

  constructor(store: EventStore, name: string, time: Time) {
    this.#store = store;
    this.name = name;
    this.#time = time;
  }

  add(entry: Entry): Promise<void> {
    if (this.isTakenOver) return Promise.reject(new JournalTakenOver(this.name));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
      this.#flush ??= this.#flushAll();
    });
  }

  async flushed(): Promise<void> {
    await this.#flush;
  }

  /** The charged characters that are not durable yet. */
  get inFlight(): number {
    const entries = [...this.#sending, ...this.#waiting.map(({ entry }) => entry)];
    return this.isTakenOver ? 0 : entries.reduce((sum, { characters }) => sum + Math.max(0, characters), 0);
  }

  async #flushAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      this.#sending = batch.map(({ entry }) => entry);
      try {
        await this.#append({ entries: this.#sending });
        for (const { resolve } of batch) resolve();
      } catch {
        this.isTakenOver = true;
        this.onTakenOver();
        for (const { reject } of [...batch, ...this.#waiting.splice(0)])
          reject(new JournalTakenOver(this.name));
      }
      this.#sending = [];
    }
    this.#flush = undefined;
  }

  async #append(data: object): Promise<void> {
    const events: NewEvent[] = [{ id: uuidv7(0), type: "Entries", data, metadata: {} }];
    const expected = this.#revision < 0 ? "none" : this.#revision;
    for (;;) {
      try {
        await this.#store.append(journalStream(this.name), events, expected);
        this.#revision += 1;
        return;
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw error;
        await new Promise<void>((resolve) => this.#time.after(20, resolve));
      }
    }
  }
}

const closeJournal = async (store: EventStore, journal: string): Promise<void> => {
  for (;;) {
    let revision = -1;
    for await (const event of store.readStream(journalStream(journal))) {
      if (event.type === "JournalClosed") return;
      revision = event.revision;
    }
    const closed = { id: uuidv7(0), type: "JournalClosed", data: {}, metadata: {} };
    try {
      await store.append(journalStream(journal), [closed], revision < 0 ? "none" : revision);
      return;
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision) && !(error instanceof EventStoreUnavailable)) throw error;
    }
  }
};

const spentBy = async (
  store: EventStore,
  journal: string,
  apiKey: string,
  month: string,
): Promise<number> => {
  let spent = 0;
  for await (const { type, data } of store.readStream(journalStream(journal))) {
    if (type === "Entries") spent += spentIn((data as { entries: Entry[] }).entries, apiKey, month);
  }
  return spent;
};

export const spentIn = (entries: readonly Entry[], apiKey: string, month: string): number =>
  entries
    .filter((entry) => entry.apiKey === apiKey && entry.month === month)
    .reduce((sum, { characters }) => sum + characters, 0);
