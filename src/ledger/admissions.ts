import { keyDecider, keyStream, suspendKey } from "../domain/accounts/key.ts";
import { KeyIsSuspended, Unavailable } from "../domain/errors.ts";
import { JournalTakenOver } from "../domain/ledger/journal/journal.ts";
import { QuotaExceeded } from "../domain/ledger/quota/quota.ts";
import type { EpochMs } from "../domain/time.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { IdempotencyClaims } from "./idempotency/idempotency-claims.ts";
import type { Admission, ChargedKey, NewRequest } from "./ledger.ts";
import { type Hold, ReservationsClosed } from "./quota/reservations.ts";
import type { Session, Sessions } from "./session/sessions.ts";

export interface AdmissionsOptions {
  readonly sessions: Sessions;
  readonly claims: IdempotencyClaims;
  /** Executes the suspension of a key. */
  readonly handler: Pick<CommandHandler, "execute">;
  /** Resolves when this instance's views show the position. */
  readonly untilVisible: (position: number) => Promise<void>;
  readonly clock: () => EpochMs;
  /** @throws {Unavailable} if this machine's clock is wrong: a serving would be in a wrong month */
  readonly requireCorrectClock: () => void;
  /** Called when a request does not fit into the key's quota. */
  readonly onQuotaExceeded: (apiKey: string) => void;
}

/**
 * The maximum number of attempts of one request. It is attempted again in a new journal, and after
 * a reservation.
 */
const maxAttempts = 5;

/** The reason why the previous attempt did not record or admit a request. */
export type Obstacle = keyof typeof obstacles;

const obstacles = {
  takenOver: "Other instances have closed this instance's journal several times: try again.",
  reservationUsed:
    "Other requests have used the characters reserved for this request several times: try again.",
};

/**
 * Decides which requests may begin: those whose Idempotency-Key is free, and whose characters fit
 * into the quota.
 */
export class Admissions {
  readonly #options: AdmissionsOptions;
  readonly #background: BackgroundTasks;

  constructor(options: AdmissionsOptions, background: BackgroundTasks) {
    this.#options = options;
    this.#background = background;
  }

  /** See `Ledger.admit`. */
  async admit(principal: ChargedKey, request: NewRequest, signal: AbortSignal): Promise<Admission> {
    this.requireReady();
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

  /** @throws {Unavailable} if nothing can be recorded now, or there were too many attempts */
  requireReady(attempt = 1, obstacle: Obstacle = "reservationUsed"): void {
    this.#background.throwIfUnavailable(this.#options.sessions.backgroundEntries);
    if (attempt > maxAttempts) throw unavailable(obstacle);
    this.#options.requireCorrectClock();
  }

  /**
   * Holds characters of a key with a quota.
   * @throws {KeyIsSuspended}
   * @throws {Unavailable}
   */
  async #hold(principal: ChargedKey, requestId: string, characters: number): Promise<Hold | undefined> {
    const { apiKey, plan } = principal;
    if (plan.monthlyCharacters === null || characters === 0) return undefined;
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const session = await this.#options.sessions.open();
      const { writer, reservations } = session;
      const hold = reservations.hold(apiKey, writer.month(), characters, plan.monthlyCharacters);
      if (hold) return hold;
      await this.reserve(session, principal, requestId, characters);
    }
    throw unavailable("reservationUsed");
  }

  /**
   * Reserves characters in the session, for another attempt to spend or hold them. If the session
   * ends in the meantime, that attempt uses the next session.
   * @throws {KeyIsSuspended} if they exceed the quota: the key is now suspended
   * @throws {Unavailable}
   */
  async reserve(
    session: Session,
    { apiKey, plan }: ChargedKey,
    requestId: string,
    characters: number,
  ): Promise<void> {
    if (plan.monthlyCharacters === null) return;
    const { writer, reservations } = session;
    try {
      await reservations.reserve(apiKey, writer.month(), characters, plan.monthlyCharacters);
    } catch (error) {
      if (error instanceof JournalTakenOver) this.#options.sessions.takeOver(session);
      else if (error instanceof QuotaExceeded) await this.#suspend(apiKey, error, requestId);
      else if (!(error instanceof ReservationsClosed)) throw error;
    }
  }

  /**
   * @throws {KeyIsSuspended}
   * @throws {Unavailable} if the key's plan has just changed
   */
  async #suspend(
    apiKey: string,
    { quota, message: reason }: QuotaExceeded,
    requestId: string,
  ): Promise<never> {
    const { handler, untilVisible, clock, onQuotaExceeded } = this.#options;
    onQuotaExceeded(apiKey);
    const at = new Date(clock()).toISOString();
    const { position, state } = await handler.execute(
      keyDecider,
      keyStream(apiKey),
      (key) => suspendKey(key, { cause: "quota", quota, reason, at }),
      { correlationId: requestId, actor: "system" },
    );
    await untilVisible(position);
    if (state.status === "suspended") throw new KeyIsSuspended(state.reason, state.cause);
    throw new Unavailable("The key's plan has just changed: try again.", 1);
  }
}

const unavailable = (obstacle: Obstacle): Unavailable => new Unavailable(obstacles[obstacle], 2);

const repeated: Admission = { isRepeat: true, hold: undefined, claim: undefined, release: () => {} };
