import { JournalTakenOver } from "../domain/ledger/journal/journal.ts";
import type { Receipt, Serving, VoidedServing } from "../domain/ledger/journal/serving.ts";
import { OutcomeUnknown } from "../eventstore/command-handler.ts";
import type { Admissions, Obstacle } from "./admissions.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { IdempotencyKeys, IdempotentRequest } from "./idempotency/idempotency-keys.ts";
import { voidOf } from "./journal/journal-flush.ts";
import type { ChargedKey, OnCharged, RecordCallback } from "./ledger.ts";
import type { Hold } from "./quota/reservations.ts";
import type { RecentCharges } from "./session/recent-charges.ts";
import type { Session, Sessions } from "./session/sessions.ts";

export interface RecorderOptions {
  readonly sessions: Sessions;
  readonly admissions: Admissions;
  readonly recentCharges: Pick<RecentCharges, "wasCharged" | "isPaid" | "send" | "catchUp">;
  readonly idempotencyKeys: IdempotencyKeys;
  readonly background: BackgroundTasks;
  /** Called with each serving that is durable before its deadline. */
  readonly onCharged: OnCharged;
  readonly onError: (what: string, error: unknown) => void;
}

/** The key that is charged, and the characters that are held for the request. */
export interface Charge {
  readonly principal: ChargedKey;
  readonly hold?: Hold | undefined;
}

type IdempotentServing = Serving & IdempotentRequest;

export const hasIdempotencyKey = (serving: Serving): serving is IdempotentServing =>
  serving.idempotency !== undefined;

const firstAttempt: { readonly number: number; readonly obstacle?: Obstacle } = { number: 1 };

/** Records servings in the journal of the current session, and voids them. */
export class Recorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /**
   * Records a serving at once if the session has reserved its characters: the path of nearly every
   * request. Otherwise opens a session or reserves characters, and calls itself again. It also does
   * so after a flush that failed because another process has taken over the journal. `requireReady`
   * ends the recursion after five attempts.
   */
  record(charge: Charge, serving: Serving, done: RecordCallback, attempt = firstAttempt): void {
    const again = (obstacle: Obstacle) =>
      this.record(charge, serving, done, { number: attempt.number + 1, obstacle });
    try {
      this.#options.admissions.requireReady(attempt.number, attempt.obstacle);
      const session = this.#options.sessions.current;
      if (session && this.#spendAndServe(session, charge, serving, done, again)) return;
      this.#openOrReserve(session, charge.principal, serving)
        .then(again, (error) => done(error, undefined))
        .catch(this.#reportFailedCallback);
    } catch (error) {
      done(error as Error, undefined);
    }
  }

  /** Returns false if the session has not reserved enough characters. */
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
    const usesPaidBytes = characters === 0 && !serving.repeat && serving.part !== undefined;
    const unsend = usesPaidBytes ? this.#options.recentCharges.send(serving) : undefined;
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
      // If the outcome is unknown, the writer takes the charge back as soon as it knows the
      // outcome.
      if (!(error instanceof OutcomeUnknown)) reservations.refund(apiKey, month, characters);
      done(error, undefined);
    });
    return true;
  }

  /** A part of audio is free if it is paid for, and no engine has worked for it. */
  #chargedCharacters(serving: Serving): number {
    const { characters, partial, cached, undelivered } = serving;
    const isKept = cached === "memory" || cached === "store";
    return partial && !undelivered && isKept && this.#options.recentCharges.isPaid(serving) ? 0 : characters;
  }

  /**
   * @throws {KeyIsSuspended}
   * @throws {Unavailable}
   */
  async #openOrReserve(
    session: Session | undefined,
    principal: ChargedKey,
    serving: Serving,
  ): Promise<Obstacle> {
    const { sessions, admissions } = this.#options;
    if (!session) await sessions.open();
    else {
      const characters = this.#chargedCharacters(serving);
      await admissions.reserve(session, principal, serving.requestId, characters);
    }
    return "reservationUsed";
  }

  /**
   * Records a part, which may be free, or a serving with an Idempotency-Key: both must read the
   * event store first. `isClaimed`: the Idempotency-Key is claimed for the request.
   */
  async recordAfterReads(charge: Charge, serving: Serving, isClaimed: boolean): Promise<Receipt> {
    this.#options.admissions.requireReady();
    return hasIdempotencyKey(serving)
      ? await this.#recordIdempotently(charge, serving, isClaimed)
      : await this.#recordUnrepeated(charge, serving);
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
    const { idempotencyKeys, background } = this.#options;
    if (!isClaimed && (await idempotencyKeys.recordRepeat(serving))) {
      return await this.#recorded(charge, { ...serving, characters: 0, repeat: true });
    }
    const receipt = await this.#recordUnrepeated(charge, serving);
    try {
      const isCharged = await idempotencyKeys.recordUse(serving);
      if (isCharged) return receipt;
      void background.run(() => this.#voidCharge(receipt, "repeat"));
      return { ...receipt, isVoided: true };
    } catch (error) {
      void this.voidServing(receipt);
      throw error;
    }
  }

  /**
   * Records a serving that is not a repeat. Before a part is recorded, it must be known whether
   * another process has charged the whole audio.
   */
  async #recordUnrepeated(charge: Charge, serving: Serving): Promise<Receipt> {
    if (serving.partial) await this.wasChargedByAny(serving.apiKey, [serving.hash]);
    return await this.#recorded(charge, serving);
  }

  #recorded(charge: Charge, serving: Serving): Promise<Receipt> {
    return new Promise((resolve, reject) =>
      this.record(charge, serving, (error, receipt) => (receipt ? resolve(receipt) : reject(error))),
    );
  }

  /** See `Ledger.wasChargedByAny`. */
  async wasChargedByAny(apiKey: string, hashes: readonly string[]): Promise<boolean> {
    const { sessions, recentCharges } = this.#options;
    const isKnown = () => hashes.some((hash) => recentCharges.wasCharged(apiKey, hash));
    if (isKnown()) return true;
    await sessions.open(); // Only then are the other journals followed.
    await recentCharges.catchUp();
    return isKnown();
  }

  /** Voids a serving in the background, unless a repeat was served on its charge. */
  async voidServing(receipt: Receipt): Promise<void> {
    const { background, idempotencyKeys } = this.#options;
    const { serving, isVoided } = receipt;
    if (isVoided) return; // a second void would return its characters twice
    await background.run(async () => {
      const isReleased =
        !hasIdempotencyKey(serving) || serving.repeat || (await idempotencyKeys.release(serving));
      if (isReleased) await this.#voidCharge(receipt, "unanswered");
    });
  }

  /** Voids a charge in the current journal, which may be a later one. */
  async #voidCharge({ journal, serving, at }: Receipt, reason: VoidedServing["reason"]): Promise<void> {
    const voided = { ...voidOf(serving, at), reason };
    const { writer } = await this.#options.sessions.open();
    writer.addVoids([writer.journal === journal ? voided : { ...voided, journal }]);
  }

  /** Adds entries that no request waits for to the current journal. */
  addInBackground(add: (writer: Session["writer"]) => void): void {
    const { background, sessions } = this.#options;
    void background.run(async () => add((await sessions.open()).writer));
  }

  readonly #reportFailedCallback = (error: unknown): void =>
    this.#options.onError("a request got no response", error);
}
