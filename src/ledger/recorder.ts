import type { Clock } from "../async/clock.ts";
import { Unavailable } from "../domain/errors.ts";
import { JournalTakenOver } from "../domain/ledger/journal/journal.ts";
import type { Receipt, Serving } from "../domain/ledger/journal/serving.ts";
import { QuotaExceeded } from "../domain/ledger/quota/quota.ts";
import { OutcomeUnknown } from "../eventstore/command-handler.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { IdempotencyClaims } from "./idempotency/idempotency-claims.ts";
import type { IdempotencyKeys } from "./idempotency/idempotency-keys.ts";
import type { Admission, ChargedKey, Ledger, NewRequest, OnCharged, RecordCallback } from "./ledger.ts";
import type { Hold } from "./quota/reservations.ts";
import { ReservationsClosed } from "./quota/reservations.ts";
import { type SuspendForQuotaOptions, suspendForQuota } from "./quota/suspend-for-quota.ts";
import type { RecentCharges } from "./session/recent-charges.ts";
import type { Session, Sessions } from "./session/sessions.ts";
import {
  hasIdempotencyKey,
  type IdempotentServing,
  voidCharge,
  voidUnlessRepeated,
} from "./void-servings.ts";

export interface LedgerOptions extends SuspendForQuotaOptions {
  readonly sessions: Sessions;
  readonly recentCharges: Pick<RecentCharges, "wasCharged" | "isPaid" | "send" | "catchUp">;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly claims: IdempotencyClaims;
  /** @throws {Unavailable} if this machine's clock is wrong: the month of a serving would be */
  readonly requireCorrectClock: () => void;
  readonly timers: Clock;
  /** Called with each serving that is durable before its deadline. */
  readonly onCharged: OnCharged;
  readonly onError: (what: string, error: unknown) => void;
}

/** How often one request is tried again, in a new journal or after a reservation. */
const maxAttempts = 5;

export const createLedger = (options: LedgerOptions, background: BackgroundTasks): Ledger => {
  const recorder = new Recorder(options, background);
  return {
    record: (principal, served, done, admission) => {
      const serving: Serving = { ...served, apiKey: principal.apiKey };
      const charge: Charge = { principal, hold: admission?.hold };
      const recorded = admission ? endingWith(admission, done) : done;
      if (!(serving.partial || hasIdempotencyKey(serving))) return recorder.record(charge, serving, recorded);
      recorder.recordAfterReads(charge, serving, admission).then(
        (receipt) => recorded(undefined, receipt),
        (error) => recorded(error, undefined),
      );
    },
    recordStreamEnd: ({ serving: { apiKey, requestId } }, ended) =>
      recorder.addInBackground((writer) => writer.addStreamEnd({ apiKey, requestId, ...ended })),
    voidServing: (receipt) => recorder.voidServing(receipt),
    recordLost: (voids, streams) => {
      if (voids.length > 0) recorder.addInBackground((writer) => writer.addVoids(voids));
      for (const end of streams) recorder.addInBackground((writer) => writer.addStreamEnd(end));
    },
    admit: (...request) => recorder.admit(...request),
    wasChargedByAny: (apiKey, hashes) => recorder.wasChargedByAny(apiKey, hashes),
    wasCharged: (apiKey, hash) => options.recentCharges.wasCharged(apiKey, hash),
    get backgroundEntries() {
      return background.pending + options.sessions.backgroundEntries;
    },
    drained: background.drained,
    close: background.close,
  };
};

const endingWith =
  (admission: Admission, done: RecordCallback): RecordCallback =>
  (error, receipt) => {
    if (error) admission.release();
    else admission.claim?.charged();
    done(error, receipt);
  };

/** Who is charged, and what is held for the request. */
interface Charge {
  readonly principal: ChargedKey;
  readonly hold?: Hold | undefined;
}

class Recorder {
  readonly #options: LedgerOptions;
  readonly #background: BackgroundTasks;

  constructor(options: LedgerOptions, background: BackgroundTasks) {
    this.#options = options;
    this.#background = background;
  }

  record(charge: Charge, serving: Serving, done: RecordCallback, { number, obstacle } = firstAttempt): void {
    const again = (next: Obstacle) =>
      this.record(charge, serving, done, { number: number + 1, obstacle: next });
    try {
      this.#requireReady(number, obstacle);
      const session = this.#options.sessions.current;
      if (session && this.#spendAndServe(session, charge, serving, done, again)) return;
      this.#openOrReserve(session, charge.principal, serving)
        .then(again, (error) => done(error, undefined))
        .catch(this.#reportFailedCallback);
    } catch (error) {
      done(error as Error, undefined);
    }
  }

  /** @throws {Unavailable} */
  #requireReady(attempt: number, obstacle: Obstacle): void {
    this.#background.throwIfUnavailable(this.#options.sessions.backgroundEntries);
    if (attempt > maxAttempts) throw new Unavailable(obstacles[obstacle], 2);
    this.#options.requireCorrectClock();
  }

  /** False if the session has not reserved enough characters. */
  #spendAndServe(
    session: Session,
    { principal: { plan, keyNumber }, hold }: Charge,
    given: Serving,
    done: RecordCallback,
    again: (obstacle: Obstacle) => void,
  ): boolean {
    const { writer, reservations } = session;
    const { apiKey } = given;
    const month = writer.month();
    if (writer.isAheadOfClock) {
      this.#options.sessions.renew(session);
      again("takenOver");
      return true;
    }
    const characters = this.#chargedCharacters(given);
    const quota = plan.monthlyCharacters;
    const isHeld = hold?.take(reservations, month, characters) ?? false;
    if (!isHeld && !reservations.trySpend(keyNumber, month, characters, quota)) return false;
    const serving = characters === given.characters ? given : { ...given, characters };
    const unsend = characters === 0 && serving.part ? this.#options.recentCharges.send(serving) : undefined;
    writer.addServing(serving, keyNumber, (error, at) => {
      if (!error) {
        this.#options.onCharged(apiKey, month, characters, quota !== null);
        return done(undefined, { journal: writer.journal, serving, at });
      }
      unsend?.();
      if (error instanceof JournalTakenOver) {
        this.#options.sessions.takeOver(session);
        return again("takenOver");
      }
      // With an unknown outcome the writer takes the charge back as soon as it knows.
      if (!(error instanceof OutcomeUnknown)) reservations.refund(apiKey, month, characters);
      done(error, undefined);
    });
    return true;
  }

  /**
   * Records a part, which may be free, or a serving with an Idempotency-Key: both must read the
   * event store first.
   */
  async recordAfterReads(
    charge: Charge,
    serving: Serving,
    { claim }: Pick<Admission, "claim"> = { claim: undefined },
  ): Promise<Receipt> {
    this.#requireReady(firstAttempt.number, firstAttempt.obstacle);
    return hasIdempotencyKey(serving)
      ? await this.#recordIdempotently(charge, serving, claim !== undefined)
      : await this.#recordUnrepeated(charge, serving);
  }

  /**
   * Records a serving that is not a repeat. For a part, it must be known first whether another
   * process has charged the whole.
   */
  async #recordUnrepeated(charge: Charge, serving: Serving): Promise<Receipt> {
    if (serving.partial) await this.wasChargedByAny(serving.apiKey, [serving.hash]);
    return await this.#recorded(charge, serving);
  }

  /**
   * Whether any process has charged the key for one of the objects shortly before.
   * @throws {Unavailable}
   */
  async wasChargedByAny(apiKey: string, hashes: readonly string[]): Promise<boolean> {
    const { sessions, recentCharges } = this.#options;
    const isKnown = () => hashes.some((hash) => recentCharges.wasCharged(apiKey, hash));
    if (isKnown()) return true;
    await sessions.open(); // Only then are the other journals followed.
    await recentCharges.catchUp();
    return isKnown();
  }

  /** A part of an object is free if it is paid for, and no engine has worked for it. */
  #chargedCharacters(serving: Serving): number {
    const { characters, partial, cached, undelivered } = serving;
    const isKept = cached === "memory" || cached === "store";
    return partial && !undelivered && isKept && this.#options.recentCharges.isPaid(serving) ? 0 : characters;
  }

  /**
   * Opens a session, or reserves the characters of the serving.
   * @throws {KeyIsSuspended} @throws {Unavailable}
   */
  async #openOrReserve(
    session: Session | undefined,
    principal: ChargedKey,
    serving: Serving,
  ): Promise<Obstacle> {
    if (!session) await this.#options.sessions.open();
    else {
      const characters = this.#chargedCharacters(serving);
      await this.#reserveCharacters(session, principal, serving.requestId, characters);
    }
    return "reservationUsed";
  }

  async #reserveCharacters(
    session: Session,
    principal: ChargedKey,
    requestId: string,
    characters: number,
  ): Promise<void> {
    const { apiKey, plan } = principal;
    if (plan.monthlyCharacters === null) return;
    const { writer, reservations } = session;
    try {
      await reservations.reserve(apiKey, writer.month(), characters, plan.monthlyCharacters);
    } catch (error) {
      if (error instanceof JournalTakenOver) this.#options.sessions.takeOver(session);
      else if (error instanceof ReservationsClosed)
        return; // The next attempt uses the next journal.
      else if (error instanceof QuotaExceeded) await suspendForQuota(this.#options, apiKey, error, requestId);
      else throw error;
    }
  }

  /**
   * The journal charges before the Idempotency-Key is recorded: a request that crashes in between
   * is charged, never served without a charge. Of two concurrent requests the slower one's charge
   * is voided.
   */
  async #recordIdempotently(
    charge: Charge,
    serving: IdempotentServing,
    isClaimed: boolean,
  ): Promise<Receipt> {
    const { idempotencyKeys } = this.#options;
    if (!isClaimed && (await idempotencyKeys.recordRepeat(serving))) {
      return await this.#recorded(charge, { ...serving, characters: 0, repeat: true });
    }
    const receipt = await this.#recordUnrepeated(charge, serving);
    try {
      const isCharged = await idempotencyKeys.recordUse(serving);
      if (isCharged) return receipt;
      this.#background.run(() => voidCharge(this.#options, receipt, "repeat"));
      return { ...receipt, isVoided: true };
    } catch (error) {
      this.voidServing(receipt);
      throw error;
    }
  }

  #recorded(charge: Charge, serving: Serving): Promise<Receipt> {
    return new Promise((resolve, reject) =>
      this.record(charge, serving, (error, receipt) => (receipt ? resolve(receipt) : reject(error))),
    );
  }

  voidServing(receipt: Receipt): void {
    if (receipt.isVoided) return; // a second void would return its characters twice
    this.#background.run(() => voidUnlessRepeated(this.#options, receipt));
  }

  addInBackground(add: (writer: Session["writer"]) => void): void {
    this.#background.run(async () => add((await this.#options.sessions.open()).writer));
  }

  readonly #reportFailedCallback = (error: unknown): void =>
    this.#options.onError("a request could not be answered", error);

  async admit(principal: ChargedKey, request: NewRequest, signal: AbortSignal): Promise<Admission> {
    this.#requireReady(firstAttempt.number, firstAttempt.obstacle);
    const { apiKey } = principal;
    const { requestId, characters, idempotency } = request;
    const claimed = idempotency && { apiKey, requestId, idempotency };
    const claim = claimed && (await this.#options.claims.claim(claimed, signal));
    if (claim === "repeat") return repeated;
    try {
      const hold = await this.#hold(principal, requestId, characters);
      const release = (): void => {
        hold?.release();
        claim?.release();
      };
      return { isRepeat: false, hold, claim, release };
    } catch (error) {
      claim?.release();
      throw error;
    }
  }

  /** Holds characters of a key with a quota. @throws {KeyIsSuspended} @throws {Unavailable} */
  async #hold(principal: ChargedKey, requestId: string, characters: number): Promise<Hold | undefined> {
    const { apiKey, plan } = principal;
    if (plan.monthlyCharacters === null || characters === 0) return undefined;
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const session = await this.#options.sessions.open();
      const { writer, reservations } = session;
      const hold = reservations.hold(apiKey, writer.month(), characters, plan.monthlyCharacters);
      if (hold) return hold;
      await this.#reserveCharacters(session, principal, requestId, characters);
    }
    throw new Unavailable(obstacles.reservationUsed, 2);
  }
}

const repeated: Admission = { isRepeat: true, hold: undefined, claim: undefined, release: () => {} };

/** What kept the previous attempt from recording a serving. */
type Obstacle = keyof typeof obstacles;

const obstacles = {
  takenOver: "Other instances have closed this instance's journal several times: try again.",
  reservationUsed:
    "Other requests have used the characters reserved for this request several times: try again.",
};

const firstAttempt: { readonly number: number; readonly obstacle: Obstacle } = {
  number: 1,
  obstacle: "reservationUsed",
};
