import type { Context } from "koa";
import { type ByteBudgetOptions, createByteBudget } from "../../async/byte-budget.ts";
import { limits } from "../../limits/limits.ts";
import type { ClientOwner } from "./client-address.ts";
import { onResponseEnd } from "./middleware.ts";

const budgetLimits: ByteBudgetOptions = {
  perOwner: limits.unsent.atMost,
  total: 64 * 1024 * 1024,
  /** A client that has not taken its part after this time is disconnected, if others wait. */
  heldMs: 20_000,
};

/**
 * Returns a function that waits until the response may have this many unsent bytes in memory. The
 * bytes count until the next call replaces them, or the response ends.
 * @throws the signal's reason
 */
export type HoldUnsentBytes = (ctx: Context, signal: AbortSignal) => (bytes: number) => Promise<void>;

/**
 * Bounds the bytes that are in memory for clients without credentials and not yet sent, for each
 * client network and in total.
 */
export const createHoldUnsentBytes = (
  clientOwner: ClientOwner,
  more: Partial<ByteBudgetOptions> = {},
): HoldUnsentBytes => {
  const budget = createByteBudget({ ...budgetLimits, ...more });
  return (ctx, signal) => {
    const owner = clientOwner(ctx.req);
    let release = (): void => undefined;
    onResponseEnd(ctx.res, () => release());
    return async (bytes) => {
      release();
      release = await budget.acquire({ owner, bytes, signal, onOverdue: () => void ctx.res.destroy() });
      if (ctx.res.closed) release();
    };
  };
};
