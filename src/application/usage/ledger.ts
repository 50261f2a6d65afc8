import type { MonthlyUsage } from "../../../projections/monthly-quota.ts";
import type { ProjectionRunner, View } from "../../../projections/runner/runner.ts";
import { keyDecider, keyStream, suspendKey } from "../../domain/accounts/key.ts";
import { KeyIsSuspended, Unavailable } from "../../domain/errors.ts";
import {
  checkQuota,
  isRepeat,
  monthOf,
  otherMonths,
  QuotaExceeded,
  type QuotaRequest,
  recordRepeat,
  recordServing,
  recordStreamEnd,
  type StreamEnded,
  type SynthesisServed,
  type Usage,
  type UsageEvent,
  usageDecider,
  usageStream,
} from "../../domain/usage/usage.ts";
import { type CommandHandler, OutcomeUnknown } from "../../eventstore/command-handler.ts";
import type { Principal } from "../access/authentication.ts";
import { isoClock } from "../iso-clock.ts";
import { untilVisible } from "../until-visible.ts";
import type { Receipt, Voiding } from "./voiding.ts";

/** The ledger of servings: each is recorded before its audio leaves, never beyond the quota. */
export interface Ledger {
  /**
   * Records an answer with audio. The audio may leave only after this resolves.
   * @throws {KeyIsSuspended} when it would exceed the quota: the key is now suspended
   * @throws {Invalid} when its Idempotency-Key was used with another request
   * @throws {Unavailable} when the event store does not answer: nothing may be served, and what the log may hold of the
   * request is voided in the background
   */
  record(principal: Principal, served: Omit<SynthesisServed, "at">): Promise<Receipt>;
  /**
   * Records the end of a recorded stream, in the month of its start.
   * @throws {Unavailable} when the event store does not answer
   */
  recordStreamEnd(principal: Principal, receipt: Receipt, ended: StreamOutcome): Promise<void>;
  /** Voids a recorded serving in the background: its caller received no audio. */
  void(receipt: Receipt): void;
  /**
   * Refuses, before any work, a request that `record` would certainly refuse.
   * @throws {KeyIsSuspended} @throws {Unavailable} @throws {Invalid} for an Idempotency-Key of another request
   */
  checkQuota(principal: Principal, request: Omit<QuotaRequest, "at">, requestId: string): Promise<void>;
  /** Waits for pending records, then at most `voidingMs` for pending voids. */
  close(voidingMs: number): Promise<void>;
}

export type StreamOutcome = Pick<StreamEnded, "hash" | "outcome" | "bytes" | "chunks">;
export type { Receipt };

export const createLedger = ({
  handler,
  views,
  quotas,
  voiding,
  clock,
}: {
  handler: CommandHandler;
  views: Pick<ProjectionRunner, "waitForPosition">;
  quotas: View<MonthlyUsage>;
  voiding: Voiding;
  clock: () => number;
}): Ledger => {
  const now = isoClock(clock);
  const recording = new Set<Promise<unknown>>();

  /** Tracked until settled, because its outcome may require a void even after the caller has left. */
  const tracked = <T>(record: Promise<T>): Promise<T> => {
    recording.add(record);
    const done = () => recording.delete(record);
    record.then(done, done);
    return record;
  };

  const suspend = async (
    { apiKey }: Principal,
    exceeded: QuotaExceeded,
    requestId: string,
  ): Promise<never> => {
    const reason = `the monthly quota is used up (${exceeded.message})`;
    const { position, state } = await handler.execute(
      keyDecider,
      keyStream(apiKey),
      (key) => suspendKey(key, { cause: "quota", quota: exceeded.quota, reason, at: now() }),
      { correlationId: requestId, actor: "system" },
    );
    await untilVisible(views, position);
    if (state.status !== "suspended") throw new Unavailable("The key's plan has just changed: try again.", 1);
    throw suspended(state.reason);
  };

  /**
   * Applies a decision to the month's usage. Resolves with true if it recorded anything. Suspends a key that would exceed its
   * quota.
   */
  const decide = async (
    principal: Principal,
    requestId: string,
    stream: string,
    decision: (usage: Usage) => UsageEvent[],
  ): Promise<boolean> => {
    const metadata = { correlationId: requestId, actor: `key:${principal.apiKey}` };
    try {
      const { events } = await handler.execute(usageDecider, stream, decision, metadata);
      return events.length > 0;
    } catch (error) {
      if (error instanceof QuotaExceeded) return suspend(principal, error, requestId);
      throw error;
    }
  };

  /** The view lags the log, so the request's events have greater revisions than the view's. */
  const receiptOf = (stream: string, requestId: string): Receipt => ({
    stream,
    requestId,
    after: quotas.get(stream)?.revision ?? -1,
  });

  /** The receipt if anything was recorded. An append with an unknown outcome is voided. */
  const recordIn = async (
    stream: string,
    principal: Principal,
    requestId: string,
    decision: (usage: Usage) => UsageEvent[],
  ): Promise<Receipt | undefined> => {
    const receipt = receiptOf(stream, requestId);
    voiding.throwIfFull(stream);
    try {
      return (await decide(principal, requestId, stream, decision)) ? receipt : undefined;
    } catch (error) {
      if (error instanceof OutcomeUnknown) voiding.void(receipt);
      throw error;
    }
  };

  /** The streams of other months in which the request's Idempotency-Key may have been used. */
  const otherStreams = (
    { apiKey }: Principal,
    { idempotency, at }: Pick<QuotaRequest, "idempotency" | "at">,
  ) => (idempotency ? otherMonths(at).map((month) => usageStream(apiKey, month)) : []);

  const record = async (principal: Principal, served: SynthesisServed): Promise<Receipt> => {
    const { requestId, at } = served;
    const { apiKey, plan } = principal;
    for (const stream of otherStreams(principal, served)) {
      const repeated = await recordIn(stream, principal, requestId, (usage) => recordRepeat(usage, served));
      if (repeated) return repeated;
    }
    const stream = usageStream(apiKey, monthOf(at));
    const receipt = await recordIn(stream, principal, requestId, (usage) =>
      recordServing(usage, served, plan.monthlyCharacters),
    );
    return receipt ?? receiptOf(stream, requestId);
  };

  return {
    record: (principal, served) => tracked(record(principal, { ...served, at: now() })),
    recordStreamEnd: async (principal, { stream, requestId }, ended) => {
      await decide(principal, requestId, stream, () => recordStreamEnd({ requestId, ...ended, at: now() }));
    },
    void: voiding.void,
    checkQuota: async (principal, given, requestId) => {
      const request = { ...given, at: now() };
      const { apiKey, plan } = principal;
      const stream = usageStream(apiKey, monthOf(request.at));
      const used = quotas.get(stream)?.used ?? 0;
      const hasRoom = plan.monthlyCharacters === null || used + request.characters <= plan.monthlyCharacters;
      if (hasRoom && !request.idempotency) return;
      let repeated = false;
      for (const other of otherStreams(principal, request)) {
        await decide(principal, requestId, other, (usage) => {
          repeated ||= isRepeat(usage, request);
          return [];
        });
      }
      if (repeated) return;
      await decide(principal, requestId, stream, (usage) =>
        checkQuota(usage, request, plan.monthlyCharacters),
      );
    },
    close: async (voidingMs) => {
      await Promise.allSettled(recording);
      await voiding.close(voidingMs);
    },
  };
};

const suspended = (reason: string): KeyIsSuspended =>
  new KeyIsSuspended(
    `The key is suspended: ${reason}. It is reinstated by a plan with a higher quota, or by the operator.`,
  );
