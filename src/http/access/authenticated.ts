import type { Middleware } from "koa";
import { hasCredentials } from "./credentials.ts";
import { type AdmissionRules, type Gate, limitHeaders, requireAdmission } from "./gate.ts";

/** Authenticates a website, applies its rate limits, and shows them in every response. */
export const authenticated =
  (gate: Gate, rules?: AdmissionRules): Middleware =>
  async (ctx, next) => {
    const caller = gate(ctx.req);
    ctx.state.caller = caller;
    ctx.set(limitHeaders(caller.admission));
    requireAdmission(caller, rules);
    await next();
  };

/**
 * Like `authenticated` for callers that present credentials, valid or not. Any other caller is
 * anonymous.
 */
export const authenticatedIfCredentials = (gate: Gate): Middleware => {
  const authenticate = authenticated(gate);
  return (ctx, next) => (hasCredentials(ctx.req) ? authenticate(ctx, next) : next());
};
