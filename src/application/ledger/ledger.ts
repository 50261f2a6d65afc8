import type { Idempotency, Receipt, Serving, StreamEnd, VoidedServing } from "../../domain/ledger/serving.ts";
import type { ActingKey } from "../access/principal.ts";

/** The ledger of servings: each is recorded before its audio leaves, never beyond the quota. */
export interface Ledger {
  /**
   * Records an answer with audio. The audio may leave only after `done` is called without an error, which is
   *  - {KeyIsSuspended} when it would exceed the quota: the key is now suspended
   *  - {Invalid} when its Idempotency-Key was used with another request
   *  - {Unavailable} when the event store does not answer: nothing may be served, and what the log may hold of the request
   *    is voided in the background
   */
  record(principal: ActingKey, served: NewServing, done: RecordCallback): void;
  /** Records the end of a recorded stream, in the background. */
  recordStreamEnd(receipt: Receipt, ended: StreamOutcome): void;
  /** Voids a recorded serving in the background: its caller received no audio. */
  voidServing(receipt: Receipt): void;
  /** Records the entries that a closed journal has lost in the next one, in the background. */
  recordLost(voids: readonly VoidedServing[], streams: readonly StreamEnd[]): void;
  /**
   * Reserves the request's characters before any work. `record` spends them; they are not kept for this request. Nothing is
   * reserved for a repeat, a free part or a key without a quota.
   * @throws {KeyIsSuspended} when the request would exceed the quota: the key is now suspended
   * @throws {Unavailable} @throws {Invalid} for an Idempotency-Key of another request
   */
  reserveQuota(principal: ActingKey, request: QuotaRequest): Promise<void>;
  /** Voids and ends of streams that are not durable yet. */
  readonly backgroundEntries: number;
  /** Resolves when all of them were given to the journal's writer. */
  drained(): Promise<void>;
  /** Refuses everything from now on, and reports what is pending as lost. */
  close(): void;
}

export type NewServing = Omit<Serving, "apiKey" | "repeat">;
export type RecordCallback = (error: Error | undefined, receipt: Receipt | undefined) => void;
export type StreamOutcome = Pick<StreamEnd, "hash" | "outcome" | "bytes" | "chunks">;

/** A request that needs characters of the quota. It has several hashes while the rendition is undecided. */
export interface QuotaRequest {
  readonly requestId: string;
  readonly hashes: readonly string[];
  readonly characters: number;
  readonly partial: boolean;
  readonly idempotency?: Idempotency | undefined;
}

/** `month`: `yyyy-mm`. `mayHaveQuota`: false if the key had no quota when the request was authenticated. */
export type OnCharged = (apiKey: string, month: string, characters: number, mayHaveQuota: boolean) => void;
