import { keys } from "../../projections/keys.ts";
import { rate } from "../../projections/rate.ts";
import { isVerifiedOrigin, verifiedOrigins } from "../../projections/verified-origins.ts";
import { websites } from "../../projections/websites.ts";
import { createAccessTokens } from "../application/access/access-tokens.ts";
import { createAuthenticator } from "../application/access/authentication.ts";
import { createLimits } from "../limits/limits.ts";
import { createRateLimiter } from "../limits/rate-limiter.ts";
import type { Core, Runtime } from "./core.ts";
import { deriveKeys, type MasterKeys } from "./master-key.ts";

export type Access = ReturnType<typeof composeAccess>;

/** Composes authentication and limits. */
export const composeAccess = (
  { settings, clock, telemetry, resources, shared, onError }: Runtime,
  { instance, store, runner }: Core,
  masterKeys: MasterKeys,
) => {
  const [key, ...previousKeys] = deriveKeys(masterKeys, "access tokens");
  const accessTokens = createAccessTokens({ key, previousKeys, ttlSeconds: settings.tokenTtlSeconds, clock });
  const limits = createLimits(settings.limits, clock, shared.openShares);
  const authenticator = createAuthenticator({
    keys: runner.view(keys),
    websites: runner.view(websites),
    accessTokens,
    failures: limits.failures,
  });
  const limiter = createRateLimiter({
    store,
    view: runner.view(rate),
    instance,
    clock,
    burstWindowMs: settings.limits.BURST_WINDOW_MS,
    burstLimit: settings.limits.BURST_LIMIT,
    openShares: shared.openShares,
    onError,
  });
  resources.defer(limiter.close);
  // Origins of a view that lags suffice, because this view grants no access. If a current view were
  // required, a page could not read the 503 of an instance whose views lag.
  const origins = runner.lastKnownView(verifiedOrigins);
  return {
    authenticator: telemetry.authenticator(authenticator),
    accessTokens,
    limits,
    limiter: telemetry.limiter(limiter),
    /** True if any website has verified the origin. */
    isVerified: (origin: string): boolean => isVerifiedOrigin(origins, origin),
  };
};
