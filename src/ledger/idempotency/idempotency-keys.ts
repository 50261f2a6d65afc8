import {
  claimKey,
  type IdempotencyEvent,
  type IdempotencyKeyClaimed,
  type IdempotencyState,
  idempotencyDecider,
  idempotencyStream,
  isRepeat,
  recordRepeat,
  recordUse,
  recoverUse,
  releaseKey,
  renewClaim,
} from "../../domain/ledger/idempotency.ts";
import type { Idempotency } from "../../domain/ledger/journal/serving.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";

/** A request with an Idempotency-Key. */
export interface IdempotentRequest {
  readonly apiKey: string;
  readonly requestId: string;
  readonly idempotency: Idempotency;
}

export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

/**
 * Decides which of the requests with one Idempotency-Key is charged. All methods may throw
 * {Unavailable}.
 */
export const createIdempotencyKeys = ({
  handler,
  clock,
}: {
  readonly handler: Pick<CommandHandler, "execute">;
  readonly clock: () => EpochMs;
}) => {
  const execute = async (
    { apiKey, requestId, idempotency }: IdempotentRequest,
    decide: (
      state: IdempotencyState,
      use: Idempotency & { requestId: string; at: string },
    ) => IdempotencyEvent[],
  ) => {
    const use = { ...idempotency, requestId, at: new Date(clock()).toISOString() };
    const stream = idempotencyStream(apiKey, idempotency);
    const metadata = { correlationId: requestId, actor: `key:${apiKey}` };
    return await handler.execute(idempotencyDecider, stream, (state) => decide(state, use), metadata);
  };

  const decideOnRepeat = async (
    request: IdempotentRequest,
    decide: (...args: Parameters<typeof recordRepeat>) => IdempotencyEvent[],
  ): Promise<boolean> => {
    let repeats = false;
    await execute(request, (state, use) => {
      repeats = isRepeat(state, use);
      return decide(state, use);
    });
    return repeats;
  };

  return {
    /**
     * Claims the key for a request that begins. Resolves with `repeat` if a request with the key is
     * charged, and with the claim of another request if that one is in progress.
     * @throws {Invalid} if the parameters differ
     */
    claim: async (
      request: IdempotentRequest,
      journal: string,
      isClosed: (journal: string) => boolean,
    ): Promise<"claimed" | "repeat" | IdempotencyKeyClaimed> => {
      let other: IdempotencyKeyClaimed | undefined;
      const { events } = await execute(request, (state, use) => {
        other = isRepeat(state, use) ? undefined : state.claim;
        return claimKey(state, use, journal, isClosed);
      });
      return events.length > 0 ? "claimed" : (other ?? "repeat");
    },
    /** Shows others that the request is still in progress. */
    renew: async (request: IdempotentRequest, journal: string): Promise<void> => {
      await execute(request, (state, use) => renewClaim(state, use, journal));
    },
    /**
     * True if a request with the key is charged.
     * @throws {Invalid} if the parameters differ
     */
    isCharged: (request: IdempotentRequest): Promise<boolean> => decideOnRepeat(request, () => []),
    /**
     * Records a repeat of a charged request. Resolves with false if there is no charged request.
     * @throws {Invalid} if the parameters differ
     */
    recordRepeat: (request: IdempotentRequest): Promise<boolean> => decideOnRepeat(request, recordRepeat),
    /**
     * Records that the request is charged. Resolves with false if a concurrent request is charged
     * instead.
     * @throws {Invalid} if the parameters differ
     */
    recordUse: async (request: IdempotentRequest): Promise<boolean> => {
      const { state } = await execute(request, recordUse);
      return state.charged?.requestId === request.requestId || isVoidedByRecovery(state, request);
    },
    /**
     * Records a charged request from the journal of a process that is gone. Resolves with true, for
     * one caller only, if that caller must void the charge: another request with the key is
     * charged.
     */
    recover: async (request: IdempotentRequest): Promise<boolean> => {
      const { events } = await execute(request, recoverUse);
      return events.some(({ type, data }) => type === "IdempotencyKeyUsed" && data.repeat);
    },
    /**
     * Releases the key. Resolves with true if the charge of the request may be voided: no repeat of
     * it was served.
     */
    release: async (request: IdempotentRequest): Promise<boolean> => {
      const { state } = await execute(request, releaseKey);
      return state.charged?.requestId !== request.requestId && !isVoidedByRecovery(state, request);
    },
  };
};

const isVoidedByRecovery = (
  { recoveredRepeats }: IdempotencyState,
  { requestId }: Pick<IdempotentRequest, "requestId">,
): boolean => recoveredRepeats.includes(requestId);
