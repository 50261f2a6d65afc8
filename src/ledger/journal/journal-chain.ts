import { type Chained, nearestTimeInMonth } from "../../domain/ledger/journal/journal.ts";
import { monthOf } from "../../domain/ledger/month.ts";
import type { Flush } from "./journal-flush.ts";

/** The clock may be behind the last event by this much: small corrections are normal. */
const maxBehindMs = 60_000;

/**
 * The end of a journal, and the time and the month of the entries that are added to it. The time
 * and the month never go backwards.
 */
export class JournalChain {
  readonly #now: () => string;
  /** The last durable event. */
  #revision = -1;
  #digest: string | null = null;
  #at = "";
  #month = "";
  #isAheadOfClock = false;

  /** `now`: the time in ISO 8601, UTC. */
  constructor(now: () => string) {
    this.#now = now;
  }

  /** The last durable revision; -1 without any. */
  get revision(): number {
    return this.#revision;
  }

  /** The month of this turn of the event loop. */
  get month(): string {
    return this.#month;
  }

  /**
   * True if the clock was more than 60 s behind the last event when this turn began: it was set
   * back, and further events would have the time of that event.
   */
  get isAheadOfClock(): boolean {
    return this.#isAheadOfClock;
  }

  /** Reads the clock, for all that is added in this turn. */
  beginTurn(): void {
    const now = this.#now();
    const month = monthOf(now);
    if (month > this.#month) this.#month = month;
    this.#isAheadOfClock = now < this.#at && Date.parse(this.#at) - Date.parse(now) > maxBehindMs;
  }

  /** The link of the next event, with a time of this month. */
  nextLink(month: string): Chained {
    const now = this.#now();
    return { at: nearestTimeInMonth(now > this.#at ? now : this.#at, month), previous: this.#digest };
  }

  /** Called when the flush is durable. It ends with this revision. */
  extend({ links, at }: Flush, revision: number): void {
    this.#revision = revision;
    this.#digest = links.at(-1)?.digest ?? null;
    this.#at = at;
  }
}
