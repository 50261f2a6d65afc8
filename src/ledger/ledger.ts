import type { Plan } from "../domain/accounts/plan.ts";
import type {
  Idempotency,
  Receipt,
  Serving,
  StreamEnd,
  VoidedServing,
} from "../domain/ledger/journal/serving.ts";
import type { OpenClaim } from "./idempotency/idempotency-claims.ts";
import type { Hold } from "./quota/reservations.ts";

/** The key that is charged. */
export interface ChargedKey {
  readonly apiKey: string;
  /** The result of `keyNumberOf`. */
  readonly keyNumber: number;
  readonly plan: Plan;
}

/** The ledger of servings: each is recorded before its audio leaves, never beyond the quota. */
export interface Ledger {
  /**
   * Records a response with audio. The audio may leave only after `done` is called without an
   * error. The error is
   * - {KeyIsSuspended} when it would exceed the quota: the key is now suspended
   * - {Invalid} when its Idempotency-Key was used with another request
   * - {Unavailable} when the event store does not respond: nothing may be served, and entries of
   *   the request that the log may hold are voided in the background
   */
  record(principal: ChargedKey, served: NewServing, done: RecordCallback, admission?: Admission): void;
  /**
   * Records those servings whose `idempotency` is not charged yet, all of them or none. Resolves
   * with their receipts, in any order. Waits for other processes that record some of them. The
   * charges of the others cannot be voided any more, if their audio is to be made (`miss`).
   * @throws {KeyIsSuspended} when they would exceed the quota: the key is now suspended
   * @throws {Unavailable}
   * @throws the signal's reason
   */
  recordOnce(
    principal: ChargedKey,
    served: readonly NewIdempotentServing[],
    signal: AbortSignal,
  ): Promise<Receipt[]>;
  /** Records the end of a recorded stream, in the background. */
  recordStreamEnd(receipt: Receipt, ended: StreamOutcome): void;
  /**
   * Voids a recorded serving: its caller received no audio. Resolves when it is voided; callers
   * need not wait, unless they void thousands.
   */
  voidServing(receipt: Receipt): Promise<void>;
  /** Records the lost entries of a closed journal in the next journal, in the background. */
  recordLost(voids: readonly VoidedServing[], streams: readonly StreamEnd[]): void;
  /**
   * Decides on a request before any work: claims its Idempotency-Key and holds its characters, so
   * that `record` never finds too few of them. Waits for a request in progress with the same
   * Idempotency-Key and parameters.
   * @throws {KeyIsSuspended} when the request would exceed the quota: the key is now suspended
   * @throws {Invalid} for an Idempotency-Key of another request
   * @throws {Unavailable}
   * @throws the signal's reason
   */
  admit(principal: ChargedKey, request: NewRequest, signal: AbortSignal): Promise<Admission>;
  /**
   * True if any process has charged the key for one of the hashes within ten minutes.
   * @throws {Unavailable}
   */
  wasChargedByAny(apiKey: string, hashes: readonly string[]): Promise<boolean>;
  /** True if this process knows of such a charge. */
  wasCharged(apiKey: string, hash: string): boolean;
  /** The number of voids and ends of streams that are not durable yet. */
  readonly backgroundEntries: number;
  /** Resolves when all of these entries were given to the journal's writer. */
  drained(): Promise<void>;
  /** Refuses everything from now on, and reports pending entries as lost. */
  close(): void;
}

export type NewServing = Omit<Serving, "apiKey" | "repeat">;
export type NewIdempotentServing = NewServing & { readonly idempotency: Idempotency };
export type RecordCallback = (error: Error | undefined, receipt: Receipt | undefined) => void;
export type StreamOutcome = Pick<StreamEnd, "hash" | "outcome" | "bytes" | "chunks">;

/** A request before any work. */
export interface NewRequest {
  readonly requestId: string;
  /** The highest number of characters that it may be charged. */
  readonly characters: number;
  readonly idempotency?: Idempotency | undefined;
}

/** A request that was admitted. It ends with `record`, or with `release`. */
export interface Admission {
  /** True if another request with its Idempotency-Key is charged. */
  readonly isRepeat: boolean;
  readonly hold: Hold | undefined;
  readonly claim: OpenClaim | undefined;
  /** Ends the hold without a charge. Has no effect after `record`. */
  release(): void;
}

/**
 * `month`: `yyyy-mm`. `mayHaveQuota`: false if the key had no quota when the request was
 * authenticated.
 */
export type OnCharged = (apiKey: string, month: string, characters: number, mayHaveQuota: boolean) => void;
