import { keyDecider, keyStream, suspendKey } from "../../domain/accounts/key.ts";
import { KeyIsSuspended, Unavailable } from "../../domain/errors.ts";
import type { QuotaExceeded } from "../../domain/ledger/quota/quota.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";

export interface SuspendForQuotaOptions {
  /** Executes the suspension of a key. */
  readonly handler: Pick<CommandHandler, "execute">;
  /** Resolves when this instance's views show the position. */
  readonly untilVisible: (position: number) => Promise<void>;
  readonly clock: () => number;
  /** Called when a request does not fit into the key's quota. */
  readonly onQuotaExceeded: (apiKey: string) => void;
}

/**
 * Suspends the key of a request that exceeds the quota.
 * @throws {KeyIsSuspended} always, or {Unavailable} if its plan has changed
 */
export const suspendForQuota = async (
  { handler, untilVisible, clock, onQuotaExceeded }: SuspendForQuotaOptions,
  apiKey: string,
  { quota, message: reason }: QuotaExceeded,
  requestId: string,
): Promise<never> => {
  onQuotaExceeded(apiKey);
  const at = new Date(clock()).toISOString();
  const { position, state } = await handler.execute(
    keyDecider,
    keyStream(apiKey),
    (key) => suspendKey(key, { cause: "quota", quota, reason, at }),
    { correlationId: requestId, actor: "system" },
  );
  await untilVisible(position);
  if (state.status !== "suspended") throw new Unavailable("The key's plan has just changed: try again.", 1);
  throw new KeyIsSuspended(state.reason, state.cause);
};
