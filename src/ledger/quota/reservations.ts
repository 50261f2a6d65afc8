import pLimit from "p-limit";
import { isoClock } from "../../async/iso-clock.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { findKeyNumber, keyNumberOf } from "../../domain/accounts/key-numbers.ts";
import { Unavailable } from "../../domain/errors.ts";
import { JournalTakenOver } from "../../domain/ledger/journal/journal.ts";
import { parseQuotaStream, type QuotaEvent, quotaPrefix } from "../../domain/ledger/quota/quota.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { type Following, follow } from "../../eventstore/follow-events.ts";
import { KeyReservation, type ReservationContext } from "./key-reservation.ts";
import { Tallies } from "./tallies.ts";

interface ReservationsOptions {
  readonly journal: string;
  readonly handler: CommandHandler;
  readonly store: EventStore;
  /**
   * A position of the log before this journal's first reservation: recalls are followed from there.
   */
  readonly fromExclusive: number;
  readonly clock?: () => EpochMs;
  readonly time?: Time;
  /**
   * Resolves when all servings and voids added so far are in the journal, or it is known that they
   * are not.
   */
  readonly waitForAppends: () => Promise<void>;
  /** Closes another journal. Idempotent. */
  readonly takeOver: (journal: string) => Promise<void>;
  /** The characters of a closed journal's entries, without voided ones. */
  readonly spentBy: (journal: string, apiKey: string, month: string) => Promise<number>;
  /** Called once if another process has settled a reservation of this journal. */
  readonly onTakenOver: () => void;
  /** The time that other journals have to return recalled characters. Default: 2,000. */
  readonly recallTimeoutMs?: number;
  /**
   * The time that a reservation may be unused before its first return in a month. It is longer
   * before later returns. Default: 60,000.
   */
  readonly idleMs?: number;
}

/** Characters that count as spent while their request is in progress. */
export interface Hold {
  /**
   * Spends the held characters for a serving of this month. Returns false if they cannot be used:
   * then they are returned, and `trySpend` decides.
   */
  take(reservations: Reservations, month: string, characters: number): boolean;
  /**
   * Ends this hold, and returns one for each of the sizes, whose sum is that of this hold. Call it
   * only before `take` and `release`.
   */
  divide(sizes: readonly number[]): Hold[];
  /** Returns the held characters. Has no effect after `take` or `divide`. */
  release(): void;
}

/** Thrown after `close`. */
export class ReservationsClosed extends Unavailable {}

const checksPerIdleTime = 6;
/**
 * Above this number, all idle reservations are returned after the idle time, even if they will soon
 * be needed again. This bounds the memory.
 */
const maxHeldForLong = 100_000;
const returnsAtOnce = 256;
const retryAfterSeconds = 1;

/**
 * One journal's share of the monthly quotas. It ends with its journal: a new journal begins with
 * new reservations.
 */
export class Reservations {
  readonly #context: ReservationContext;
  readonly #idleMs: number;
  readonly #tallies = new Tallies();
  readonly #active = new Set<KeyReservation>();
  readonly #following: Following;
  #stopChecks: (() => void) | undefined;
  #ended: Error | undefined;
  /** True if characters were voided after `close`. */
  #hasLateRefund = false;

  constructor(options: ReservationsOptions) {
    const { clock = Date.now, time = systemTime, recallTimeoutMs = 2_000, idleMs = 60_000 } = options;
    const onTakenOver = (): void => {
      if (this.#ended instanceof JournalTakenOver) return;
      this.takenOver();
      options.onTakenOver();
    };
    this.#context = { ...options, now: isoClock(clock), time, recallTimeoutMs, onTakenOver };
    this.#idleMs = idleMs;
    this.#following = follow({
      store: options.store,
      prefixes: [quotaPrefix],
      fromExclusive: options.fromExclusive,
      onBatch: ({ events }) => {
        for (const event of events) this.#onEvent(event);
      },
      time,
    });
  }

  /**
   * Spends characters of a key's month if this journal has reserved them. If it returns false, call
   * `reserve`, then try again. With `quota` null (no quota) it only counts them.
   */
  trySpend(keyNumber: number, month: string, characters: number, quota: number | null): boolean {
    if (quota === null) this.#tallies.spend(keyNumber, month, characters);
    else if (characters > 0) {
      const tally = this.#tallies.findOrAdd(keyNumber, month);
      const { spent, reservedTotal, reservation } = tally;
      if (spent + characters > reservedTotal || reservation === undefined || quota < reservation.quota)
        return false;
      tally.spent += characters;
    }
    return true;
  }

  /**
   * Holds characters if this journal has reserved them. If it returns undefined, call `reserve`,
   * then try again.
   */
  hold(apiKey: string, month: string, characters: number, quota: number): Hold | undefined {
    if (!this.trySpend(keyNumberOf(apiKey), month, characters, quota)) return undefined;
    this.#tallies.findOrAdd(keyNumberOf(apiKey), month).held += characters;
    return this.#openHold(apiKey, month, characters);
  }

  /** The tally includes the characters already. */
  #openHold(apiKey: string, month: string, characters: number): Hold {
    const tally = this.#tallies.findOrAdd(keyNumberOf(apiKey), month);
    let isOpen = true;
    /** Returns false if the characters were already spent, returned or divided. */
    const end = (): boolean => {
      if (!isOpen || this.#ended) return false;
      isOpen = false;
      tally.held -= characters;
      tally.reservation?.holdEnded();
      return true;
    };
    const release = (unused = characters): void => {
      if (end()) this.refund(apiKey, month, unused);
    };
    return {
      take: (reservations, servedMonth, served) => {
        const isUsable = isOpen && !this.#ended && reservations === this && servedMonth === month;
        release(isUsable ? characters - served : characters);
        return isUsable;
      },
      divide: (sizes) => {
        isOpen = false;
        return sizes.map((size) => this.#openHold(apiKey, month, size));
      },
      release: () => release(),
    };
  }

  /**
   * Reserves characters, so that they can be spent in this turn of the event loop. Requests are
   * served in order.
   * @throws {QuotaExceeded} if they are not available in any journal
   * @throws {Unavailable} if the event store does not respond
   * @throws {ReservationsClosed} if the journal is being closed: use the next journal
   * @throws {JournalTakenOver} if this journal was closed, or its reservation settled, by another
   * process: use the next journal
   */
  async reserve(apiKey: string, month: string, characters: number, quota: number): Promise<void> {
    if (this.#ended) throw this.#ended;
    if (characters > 0) await this.#reservation(apiKey, month).reserve(characters, quota);
  }

  /** Returns spent characters of a serving that failed or was voided. */
  refund(apiKey: string, month: string, characters: number): void {
    const keyNumber = keyNumberOf(apiKey);
    if (!this.#tallies.isKept(keyNumber, month)) return;
    const tally = this.#tallies.findOrAdd(keyNumber, month);
    tally.spent -= characters;
    if (tally.spent >= (tally.stated ?? 0)) return;
    if (this.#ended) this.#hasLateRefund = true;
    else this.#reservation(apiKey, month).refunded();
  }

  /**
   * True if a quota stream may state more than this journal has spent, and others cannot recall the
   * difference. Call it after the end.
   */
  get mayOverstate(): boolean {
    if (this.#ended instanceof JournalTakenOver || this.#hasLateRefund) return true;
    return [...this.#active].some(({ hasRefund, isUncertain }) => hasRefund || isUncertain);
  }

  /** Returns everything that is unspent, as far as the event store can be reached. */
  async close(): Promise<void> {
    const closing = new ReservationsClosed("The journal is being closed.", retryAfterSeconds);
    this.#endWith(closing);
    const atOnce = pLimit(returnsAtOnce);
    await atOnce.map(this.#active, (reservation) => reservation.close(closing));
    this.#following.close();
  }

  /**
   * Ends the regular checks and the subscription, because the process ends. Reserves nothing more.
   */
  stop(): void {
    this.#endWith(new ReservationsClosed("The service is shutting down.", retryAfterSeconds));
    this.#following.close();
  }

  #endWith(reason: Error): void {
    if (!this.#ended) for (const reservation of this.#active) reservation.dropHolds();
    this.#ended ??= reason;
    this.#stopChecks?.();
  }

  /** Ends without any append, because the journal was taken over. */
  takenOver(): void {
    const takenOver = new JournalTakenOver(this.#context.journal);
    this.#ended = takenOver;
    this.#stopChecks?.();
    this.#following.close();
    for (const reservation of this.#active) reservation.takenOver(takenOver);
  }

  #reservation(apiKey: string, month: string): KeyReservation {
    const tally = this.#tallies.findOrAdd(keyNumberOf(apiKey), month);
    if (tally.reservation) return tally.reservation;
    const reservation = new KeyReservation(this.#context, apiKey, month, tally);
    tally.reservation = reservation;
    this.#active.add(reservation);
    this.#stopChecks ??= this.#checkLater();
    return reservation;
  }

  #checkLater(): () => void {
    return this.#context.time.after(this.#idleMs / checksPerIdleTime, () => {
      const isCrowded = this.#active.size > maxHeldForLong;
      for (const reservation of this.#active) {
        const isReturnedSoon = isCrowded || this.#tallies.isPast(reservation.month);
        if (!reservation.checkIdle(checksPerIdleTime, isReturnedSoon)) continue;
        this.#active.delete(reservation);
        this.#tallies.release(reservation.keyNumber, reservation.month);
      }
      this.#stopChecks = this.#active.size > 0 ? this.#checkLater() : undefined;
    });
  }

  #onEvent({ stream, type, data, position }: RecordedEvent): void {
    const event = { type, data } as QuotaEvent;
    const isOwn = "journal" in event.data && event.data.journal === this.#context.journal;
    if (isOwn && event.type === "ReservationSettled") this.#context.onTakenOver();
    if (isOwn) return;
    const { apiKey, month } = parseQuotaStream(stream);
    const keyNumber = findKeyNumber(apiKey);
    if (keyNumber === undefined) return; // nothing was spent here
    const reservation = this.#tallies.find(keyNumber, month)?.reservation;
    if (event.type === "UsageCarriedOver") this.#correctCarriedOver(apiKey, keyNumber, month);
    else if (event.type === "ReservationsRecalled") reservation?.recall(position);
    else reservation?.changed();
  }

  /** This journal may have spent more since its total was read. */
  #correctCarriedOver(apiKey: string, keyNumber: number, month: string): void {
    if (this.#tallies.hasSpent(keyNumber, month) && !this.#ended)
      void this.#reservation(apiKey, month).returnUnspent();
  }
}
