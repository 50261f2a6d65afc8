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

/** The ledger of what was served: recorded before it leaves, never over the quota. */
export interface Ledger {
  /**
   * Records an answer with audio; only when this resolves may the audio leave.
   * @throws {KeyIsSuspended} when the quota has no room for it: the key is suspended from now on
   * @throws {Invalid} when its Idempotency-Key was used with another request
   * @throws {Unavailable} when the event store gives no answer: nothing may be served, and what the log may hold of the
   * request is voided in the background
   */
  record(principal: Principal, served: Omit<SynthesisServed, "at">): Promise<Receipt>;
  /**
   * Records how a stream ended that was recorded when it began, in the same month.
   * @throws {Unavailable} when the event store gives no answer
   */
  recordStreamEnd(principal: Principal, receipt: Receipt, ended: StreamOutcome): Promise<void>;
  /** Takes a recorded serving back, in the background: its caller got no audio. */
  void(receipt: Receipt): void;
  /**
   * Refuses at once, before any work is done, what `record` would refuse in the end; never what it might take.
   * @throws {KeyIsSuspended} @throws {Unavailable} @throws {Invalid} for an Idempotency-Key of another request
   */
  checkQuota(principal: Principal, prospect: Omit<QuotaRequest, "at">, requestId: string): Promise<void>;
  /** Waits until what is being recorded has an outcome, then for at most so long until what must be is voided. */
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

  /** What is recorded after its caller has gone may still have to be voided. */
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
   * Puts a decision to the month's usage, and answers whether it recorded anything; a key that would exceed its quota is
   * suspended.
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

  /** The view shows no more than the log held before the request, so that its events come after that revision. */
  const receiptOf = (stream: string, requestId: string): Receipt => ({
    stream,
    requestId,
    after: quotas.get(stream)?.revision ?? -1,
  });

  /** The receipt if something was recorded; what may come of an unknown outcome is voided. */
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

  /** The streams of the months in which the request's Idempotency-Key may have been used, but for its own. */
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
      const prospect = { ...given, at: now() };
      const { apiKey, plan } = principal;
      const stream = usageStream(apiKey, monthOf(prospect.at));
      const used = quotas.get(stream)?.used ?? 0;
      const hasRoom = plan.monthlyCharacters === null || used + prospect.characters <= plan.monthlyCharacters;
      if (hasRoom && !prospect.idempotency) return;
      let repeated = false;
      for (const other of otherStreams(principal, prospect)) {
        await decide(principal, requestId, other, (usage) => {
          repeated ||= isRepeat(usage, prospect);
          return [];
        });
      }
      if (repeated) return;
      await decide(principal, requestId, stream, (usage) =>
        checkQuota(usage, prospect, plan.monthlyCharacters),
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
