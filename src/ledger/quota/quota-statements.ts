import type { Time } from "../../async/time.ts";
import {
  type OwnShare,
  type Quota,
  type QuotaEvent,
  quotaDecider,
  quotaStream,
} from "../../domain/ledger/quota/quota.ts";
import type { CommandHandler, Outcome } from "../../eventstore/command-handler.ts";

/** All commands of one journal share it. */
export interface JournalContext {
  readonly journal: string;
  readonly handler: CommandHandler;
  /** The time in ISO 8601, UTC. */
  readonly now: () => string;
  readonly time: Time;
}

/** The totals of one key and month in one journal. */
interface StatedTotals {
  readonly spent: number;
  /** The total of the journal's last event in the quota stream; undefined if it has none. */
  stated: number | undefined;
}

/**
 * The statements of one journal in the quota stream of one key and month. An append whose outcome
 * is unknown may be in the stream, or arrive later: then several statements may be the last one.
 */
export class QuotaStatements {
  readonly #context: JournalContext;
  readonly #stream: string;
  readonly #totals: StatedTotals;
  #isReserved = false;
  /**
   * Keys are the totals of appends whose outcome is unknown. Values are true if the append reserves
   * characters.
   */
  readonly #unresolved = new Map<number, boolean>();
  #position = -1;

  constructor(context: JournalContext, apiKey: string, month: string, totals: StatedTotals) {
    this.#context = context;
    this.#stream = quotaStream(apiKey, month);
    this.#totals = totals;
  }

  /** True if the last statement that is known to be in the stream reserves characters. */
  get isReserved(): boolean {
    return this.#isReserved;
  }

  /** True if the last statement reserves characters, or may do so. */
  get mayReserve(): boolean {
    return this.#isReserved || [...this.#unresolved.values()].includes(true);
  }

  /** True if the outcome of an append is unknown. */
  get isUncertain(): boolean {
    return this.#unresolved.size > 0;
  }

  /** The log position of the last statement; -1 without one. */
  get position(): number {
    return this.#position;
  }

  /**
   * Appends the decided events, and keeps track of the totals that the stream may then have for the
   * journal.
   */
  async execute(decide: (state: Quota, own: OwnShare) => QuotaEvent[]): Promise<Outcome<Quota, QuotaEvent>> {
    const { journal, handler, now } = this.#context;
    const expected = [this.#totals.stated, ...this.#unresolved.keys()];
    const sent = new Map<number, boolean>();
    const decideAndRecord = (state: Quota): QuotaEvent[] => {
      // After a conflict `decide` is called again, because the events of the first decision were
      // not appended.
      sent.clear();
      const events = decide(state, { journal, expected, spent: this.#totals.spent, at: now() });
      for (const event of events) {
        if ("total" in event.data) sent.set(event.data.total, event.type === "CharactersReserved");
      }
      return events;
    };
    try {
      const outcome = await handler.execute(quotaDecider, this.#stream, decideAndRecord, { actor: "system" });
      for (const { type, data } of outcome.events) {
        if (!("total" in data)) continue;
        this.#totals.stated = data.total;
        this.#position = outcome.position;
        this.#unresolved.clear();
        this.#isReserved = type === "CharactersReserved";
      }
      return outcome;
    } catch (error) {
      for (const [total, isReservation] of sent)
        this.#unresolved.set(total, isReservation || this.#unresolved.get(total) === true);
      throw error;
    }
  }
}
