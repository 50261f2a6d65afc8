import {
  type Holder,
  otherHolders,
  type Quota,
  type QuotaEvent,
  quotaDecider,
  quotaStream,
  settleReservations,
} from "../../domain/ledger/quota/quota.ts";
import type { JournalContext } from "./quota-statements.ts";

/** A journal needs this to settle the reservations of others. */
export interface SettlementContext extends JournalContext {
  /** The time that other journals have to return recalled characters. */
  readonly recallTimeoutMs: number;
  readonly takeOver: (journal: string) => Promise<void>;
  readonly spentBy: (journal: string, apiKey: string, month: string) => Promise<number>;
}

/** A point in time: a state that is read after it includes all changes that were counted before. */
interface Moment {
  readonly ms: number;
  readonly changes: number;
}

const metadata = { actor: "system" };

/** The other journals whose reservations of one key and month have been recalled. */
export class RecalledHolders {
  readonly #context: SettlementContext;
  readonly #apiKey: string;
  readonly #month: string;
  /** The times by which reservations must have been returned, by the reservation's number. */
  #deadlines = new Map<number, number>();
  /** Counts the changes that end a wait. */
  #changes = 0;
  #wake = (): void => {};

  constructor(context: SettlementContext, apiKey: string, month: string) {
    this.#context = context;
    this.#apiKey = apiKey;
    this.#month = month;
  }

  /** Ends a wait: there is a new state to read, or no reason to wait any longer. */
  changed(): void {
    this.#changes += 1;
    this.#wake();
  }

  now(): Moment {
    return { ms: this.#context.time.now(), changes: this.#changes };
  }

  forget(): void {
    this.#deadlines.clear();
  }

  /**
   * Resolves after the next change, or when the first holder's time is up. If the time of some
   * holders was up already when the state was read, settles their reservations instead.
   */
  async waitForReturns(state: Quota, readAfter: Moment): Promise<void> {
    const { journal, time, recallTimeoutMs } = this.#context;
    const now = time.now();
    const holders = otherHolders(state, journal);
    const deadlineOf = ({ reservation }: Holder): number =>
      this.#deadlines.get(reservation) ?? now + recallTimeoutMs;
    this.#deadlines = new Map(holders.map((holder) => [holder.reservation, deadlineOf(holder)]));
    const late = holders.filter((holder) => deadlineOf(holder) <= readAfter.ms);
    if (late.length > 0) return await this.#settle(late);
    await this.#untilChanged(readAfter.changes, Math.min(...this.#deadlines.values()) - now);
  }

  async #settle(holders: readonly Holder[]): Promise<void> {
    const { handler, takeOver, spentBy, now } = this.#context;
    const closed = holders.map(async ({ journal }) => {
      await takeOver(journal);
      return { journal, total: await spentBy(journal, this.#apiKey, this.#month) };
    });
    const totals = await Promise.all(closed);
    const decide = (state: Quota): QuotaEvent[] => settleReservations(state, totals, now());
    await handler.execute(quotaDecider, quotaStream(this.#apiKey, this.#month), decide, metadata);
  }

  #untilChanged(changes: number, ms: number): Promise<void> {
    if (changes !== this.#changes) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#context.time.after(ms, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }
}
