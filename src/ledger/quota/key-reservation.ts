import { setImmediate } from "node:timers/promises";
import { withDeadline } from "../../async/deadline.ts";
import { keyNumberOf } from "../../domain/accounts/key-numbers.ts";
import { Unavailable } from "../../domain/errors.ts";
import { JournalTakenOver } from "../../domain/ledger/journal/journal.ts";
import {
  nothingReserved,
  QuotaExceeded,
  reduceReservation,
  reserveCharacters,
  returnReservation,
} from "../../domain/ledger/quota/quota.ts";
import { Idleness } from "./idleness.ts";
import { QuotaStatements } from "./quota-statements.ts";
import { RecalledHolders, type SettlementContext } from "./recalled-holders.ts";
import { WaitingRequests } from "./waiting-requests.ts";

/** The characters of one key and month in one journal. Each active key has one, so it is small. */
export class Tally {
  /**
   * The characters that are charged, in flight or held. Negative after voids of other journals'
   * servings.
   */
  spent = 0;
  /** The part of `spent` that requests in progress hold. */
  held = 0;
  /** The total up to which characters may be spent, or `nothingReserved`. */
  reservedTotal = nothingReserved;
  /** The total of the journal's last event in the quota stream; undefined if it has none. */
  stated: number | undefined = undefined;
  /** The number of times that its reservation was returned because it was idle. */
  idleReturns = 0;
  /** It is present while characters are reserved, requested or to be returned. */
  reservation: KeyReservation | undefined = undefined;
}

/** All reservations of one journal share it. */
export interface ReservationContext extends SettlementContext {
  readonly waitForAppends: () => Promise<void>;
  /** Called when it turns out that this journal was taken over. */
  readonly onTakenOver: () => void;
}

/** This is also the default time that a serving waits for the event store. */
const appendTimeoutMs = 5_000;

/**
 * One journal's reservation of one key and month. At most one of its commands runs at a time. The
 * characters that may be spent are lowered before a return is appended, and raised only after a
 * reservation is durable.
 */
export class KeyReservation {
  readonly apiKey: string;
  readonly keyNumber: number;
  readonly month: string;
  readonly #context: ReservationContext;
  readonly #tally: Tally;
  readonly #waiting = new WaitingRequests();
  #quota = 0;
  readonly #statements: QuotaStatements;
  /** The log position of the last recall by another journal. */
  #recallPosition = -1;
  #isReturnDue = false;
  #isRunning = false;
  #running = Promise.resolve();
  #isTakenOver = false;
  readonly #recalled: RecalledHolders;
  #holdEnds = Promise.withResolvers<void>();
  readonly #idleness = new Idleness();

  constructor(context: ReservationContext, apiKey: string, month: string, tally: Tally) {
    this.#context = context;
    this.apiKey = apiKey;
    this.keyNumber = keyNumberOf(apiKey);
    this.month = month;
    this.#tally = tally;
    this.#statements = new QuotaStatements(context, apiKey, month, tally);
    this.#recalled = new RecalledHolders(context, apiKey, month);
  }

  get quota(): number {
    return this.#quota;
  }

  reserve(characters: number, quota: number): Promise<void> {
    // Characters that were reserved under a higher quota must not be spent before others have
    // returned theirs.
    if (quota < this.#quota) this.#tally.reservedTotal = nothingReserved;
    if (quota !== this.#quota) this.changed();
    this.#quota = quota;
    this.#idleness.reset();
    const granted = this.#waiting.add(characters);
    this.#start();
    return granted;
  }

  /** Call it when another journal has recalled the reservations, at this position of the log. */
  recall(position: number): void {
    this.#recallPosition = Math.max(this.#recallPosition, position);
    this.holdEnded();
    this.changed();
    if (this.#isRecalled) this.#start();
  }

  /**
   * Call it when spent characters were voided. Other journals recall characters only from journals
   * with a reservation: without one, this journal states its lower total at once.
   */
  refunded(): void {
    if (!this.hasRefund) return;
    this.changed();
    this.#start();
  }

  /** Wakes the recall that waits for held characters: a hold has ended, or the wait is over. */
  holdEnded(): void {
    this.#holdEnds.resolve();
    this.#holdEnds = Promise.withResolvers();
  }

  /** Drops the holds, because the journal ends: their servings are recorded in the next one. */
  dropHolds(): void {
    this.#tally.spent -= this.#tally.held;
    this.#tally.held = 0;
    this.holdEnded();
  }

  /** Call it when another journal's share has changed. */
  changed(): void {
    this.#recalled.changed();
  }

  /** Returns unspent characters. Resolves when that is done, or has failed. */
  async returnUnspent(): Promise<void> {
    this.#isReturnDue = true;
    this.changed();
    this.#start();
    await this.#running;
  }

  /** Rejects the waiting requests and returns unspent characters. */
  async close(error: Error): Promise<void> {
    this.#waiting.rejectAll(error);
    await this.returnUnspent();
  }

  /** Rejects the waiting requests and sends no further commands. */
  takenOver(error: Error): void {
    this.#isTakenOver = true;
    this.#tally.reservedTotal = nothingReserved;
    this.#waiting.rejectAll(error);
    this.holdEnded();
    this.changed();
  }

  /**
   * Called regularly. Returns the reservation after `maxIdleChecks` calls without spending. Each
   * return makes the next one later, unless `isReturnedSoon`: a key that is used now and then must
   * not cost two appends each time. Returns true if nothing is reserved, requested or still to be
   * stated: the reservation can then be forgotten.
   */
  checkIdle(maxIdleChecks: number, isReturnedSoon: boolean): boolean {
    if (this.#isRunning) return false;
    const { spent, stated } = this.#tally;
    const { mayReserve } = this.#statements;
    this.#idleness.check(spent);
    const returns = mayReserve && !isReturnedSoon ? this.#tally.idleReturns : 0;
    const isIdle = this.#tally.held === 0 && this.#idleness.hasLasted(maxIdleChecks, returns);
    const isStated = stated === undefined ? spent >= 0 : stated === spent;
    const isComplete = !mayReserve && !this.isUncertain && isStated;
    if (isIdle && isComplete) return true;
    if (isIdle && mayReserve) this.#tally.idleReturns += 1;
    if (isIdle) void this.returnUnspent();
    else if (this.#isRecalled || this.#isReturnDue || this.hasRefund) this.#start();
    return false;
  }

  /**
   * True if other journals still count characters that were voided here, and will not recall them.
   */
  get hasRefund(): boolean {
    return !this.#statements.isReserved && this.#tally.spent < (this.#tally.stated ?? 0);
  }

  /** True if the outcome of an append is unknown. */
  get isUncertain(): boolean {
    return this.#statements.isUncertain;
  }

  get #isRecalled(): boolean {
    return this.#statements.mayReserve && this.#recallPosition > this.#statements.position;
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        this.#waiting.grant(this.#tally.reservedTotal - this.#tally.spent);
        if (this.#isTakenOver) return;
        if (this.#isRecalled || this.#isReturnDue || this.hasRefund) await this.#return();
        else if (!this.#waiting.isEmpty) await this.#reserve();
        else return;
      }
    } catch (error) {
      if (error instanceof JournalTakenOver) this.#context.onTakenOver();
      this.#waiting.rejectAll(error);
    } finally {
      this.#isRunning = false;
    }
  }

  async #reserve(): Promise<void> {
    const startedAt = this.#recalled.now();
    const quota = this.#quota;
    const wanted = this.#waiting.characters;
    let spent = 0;
    try {
      const { events, state } = await this.#statements.execute((current, own) => {
        spent = own.spent;
        const { reservedTotal } = this.#tally;
        return reserveCharacters(current, { ...own, reservedTotal, wanted, quota });
      });
      const [event] = events;
      const isReserved = event?.type === "CharactersReserved";
      if (!isReserved) return await this.#recalled.waitForReturns(state, startedAt);
      this.#tally.reservedTotal = quota > this.#quota ? nothingReserved : event.data.total;
    } catch (error) {
      if (!(error instanceof QuotaExceeded)) throw error;
      const { reservedTotal } = this.#tally;
      const unknown = await this.#untilAppended();
      // A recall must get its response soon. The reservation is tried again after that.
      if (this.#isTakenOver || quota !== this.#quota || this.#isRecalled) return;
      this.#tally.reservedTotal = reservedTotal;
      if (this.#tally.spent < spent) return; // a serving has failed: there is room for another
      this.#waiting.refuse(wanted.length, error.quota - error.used, unknown ?? error);
    }
    this.#recalled.forget();
  }

  /**
   * Waits for servings in flight and requests in progress: they count as spent, but may fail, or be
   * voided by the next flush. Resolves with an error if this takes too long.
   */
  async #untilAppended(): Promise<Error | undefined> {
    const onTimeout = () =>
      new Unavailable("It is not known yet whether the quota is used up: try again.", 2);
    const appended = async (): Promise<undefined> => {
      await this.#stopSpending();
      await this.#context.waitForAppends();
      while (this.#tally.held > 0 && !this.#isTakenOver && !this.#isRecalled) await this.#holdEnds.promise;
      await this.#context.waitForAppends();
    };
    const deadline = { time: this.#context.time, ms: appendTimeoutMs, onTimeout };
    return await withDeadline(deadline, appended).catch((error: Error) => error);
  }

  /** Afterwards only requests in progress add servings, from the characters that they hold. */
  async #stopSpending(): Promise<void> {
    // Requests that were granted characters in this turn spend them first.
    await setImmediate();
    this.#tally.reservedTotal = nothingReserved;
  }

  /**
   * A returned total is final if the journal is closed: it must not count a serving that may still
   * be lost. So nothing may be held before the wait for appends.
   */
  async #return(): Promise<void> {
    await this.#stopSpending();
    const wasHeld = this.#tally.held > 0;
    await this.#context.waitForAppends();
    // If this journal was taken over, the servings that it has lost still count as spent here.
    if (this.#isTakenOver) return;
    if (!wasHeld) await this.#statements.execute(returnReservation);
    else if (this.#tally.held > 0) await this.#reduce();
    if (!wasHeld || this.#tally.held > 0) this.#isReturnDue = false;
  }

  /**
   * Responds to a recall while characters are held: states what is spent, held characters
   * included. Other journals may then recall again, so if nothing has changed, this first waits for
   * the end of a hold, but not as long as the other journals wait. It states nothing if the last
   * hold has ended: the serving must be appended before the return.
   */
  async #reduce(): Promise<void> {
    if (this.#tally.spent === this.#tally.stated) {
      const { time, recallTimeoutMs } = this.#context;
      const cancel = time.after(recallTimeoutMs / 2, () => this.holdEnded());
      await this.#holdEnds.promise;
      cancel();
      if (this.#isTakenOver) return;
    }
    if (this.#tally.held > 0) await this.#statements.execute(reduceReservation);
  }
}
