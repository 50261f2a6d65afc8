import type { MonthlyUse } from "../../projections/monthly-quota.ts";
import type { ProjectionRunner, View } from "../../projections/runner.ts";
import { KeyIsSuspended, Unavailable } from "../domain/errors.ts";
import { keyDecider, keyStream, suspendKey } from "../domain/key.ts";
import {
  endStream,
  monthOf,
  type Prospect,
  QuotaExceeded,
  requireRoom,
  type StreamEnded,
  type SynthesisServed,
  serve,
  type Usage,
  type UsageEvent,
  usageDecider,
  usageStream,
} from "../domain/usage.ts";
import type { CommandHandler } from "../eventstore/command-handler.ts";
import type { Principal } from "./authentication.ts";
import { isoClock } from "./iso-clock.ts";
import { untilShown } from "./until-shown.ts";

/** The ledger of what was served: recorded before it leaves, never over the quota. */
export interface Ledger {
  /**
   * Records an answer with audio; only when this resolves may the audio leave.
   * @throws {KeyIsSuspended} when the quota has no room for it: the key is suspended from now on
   * @throws {Unavailable} when the event store gives no answer: nothing may be served
   */
  record(principal: Principal, served: Omit<SynthesisServed, "at">): Promise<void>;
  /**
   * Records how a stream ended that was recorded when it began.
   * @throws {Unavailable} when the event store gives no answer
   */
  complete(principal: Principal, ended: Omit<StreamEnded, "at">): Promise<void>;
  /**
   * Refuses at once, before any work is done, what `record` would refuse in the end; never what it might take.
   * @throws {KeyIsSuspended} @throws {Unavailable}
   */
  precheck(principal: Principal, prospect: Omit<Prospect, "at">, requestId: string): Promise<void>;
}

export const createLedger = ({
  handler,
  views,
  quotas,
  clock,
}: {
  handler: CommandHandler;
  views: Pick<ProjectionRunner, "reached">;
  quotas: View<MonthlyUse>;
  clock: () => number;
}): Ledger => {
  const now = isoClock(clock);

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
    await untilShown(views, position);
    if (state.status !== "suspended") throw new Unavailable("The key's plan has just changed: try again.", 1);
    throw suspended(state.reason);
  };

  /** Puts a decision to the month's usage; whoever would pass the quota is suspended. */
  const put = async (
    principal: Principal,
    requestId: string,
    at: string,
    decision: (usage: Usage) => UsageEvent[],
  ): Promise<void> => {
    const { apiKey } = principal;
    const metadata = { correlationId: requestId, actor: `key:${apiKey}` };
    try {
      await handler.execute(usageDecider, usageStream(apiKey, monthOf(at)), decision, metadata);
    } catch (error) {
      if (error instanceof QuotaExceeded) return suspend(principal, error, requestId);
      throw error;
    }
  };

  return {
    record: (principal, served) => {
      const at = now();
      const { monthlyCharacters } = principal.plan;
      return put(principal, served.requestId, at, (usage) =>
        serve(usage, { ...served, at }, monthlyCharacters),
      );
    },
    complete: (principal, ended) => {
      const at = now();
      return put(principal, ended.requestId, at, () => endStream({ ...ended, at }));
    },
    precheck: async (principal, prospect, requestId) => {
      const at = now();
      const { apiKey, plan } = principal;
      const used = quotas.get(usageStream(apiKey, monthOf(at)))?.used ?? 0;
      if (plan.monthlyCharacters === null || used + prospect.characters <= plan.monthlyCharacters) return;
      await put(principal, requestId, at, (usage) =>
        requireRoom(usage, { ...prospect, at }, plan.monthlyCharacters),
      );
    },
  };
};

const suspended = (reason: string): KeyIsSuspended =>
  new KeyIsSuspended(
    `The key is suspended: ${reason}. It is reinstated by a plan with a higher quota, or by the operator.`,
  );
