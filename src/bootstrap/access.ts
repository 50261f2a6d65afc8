import { randomUUID } from "node:crypto";
import { keys } from "../../projections/keys.ts";
import { rate } from "../../projections/rate.ts";
import { isVerifiedOrigin, verifiedOrigins } from "../../projections/verified-origins.ts";
import { websites } from "../../projections/websites.ts";
import { type AccessTokens, createAccessTokens } from "../application/access/access-tokens.ts";
import { type Authenticator, createAuthenticator } from "../application/access/authentication.ts";
import { createFailedAttempts, type FailedAttempts } from "../application/access/failed-attempts.ts";
import { createRateLimiter, type RateLimiter } from "../application/access/rate-limiter.ts";
import type { Core, Runtime } from "./core.ts";
import { deriveKeys, type MasterKeys } from "./master-key.ts";

/** Authentication and limits. */
export interface Access {
  readonly authenticator: Authenticator;
  readonly accessTokens: AccessTokens;
  readonly failedAttempts: FailedAttempts;
  readonly limiter: RateLimiter;
  /** True if any website has verified the origin. */
  readonly isVerified: (origin: string) => boolean;
}

export const composeAccess = (
  { settings, clock, telemetry, resources, onError }: Runtime,
  { store, runner }: Core,
  masterKeys: MasterKeys,
): Access => {
  const [key, ...previousKeys] = deriveKeys(masterKeys, "access tokens");
  const accessTokens = createAccessTokens({ key, previousKeys, ttlSeconds: settings.tokenTtlSeconds, clock });
  const failedAttempts = createFailedAttempts({ clock });
  const authenticator = createAuthenticator({
    keys: runner.view(keys),
    websites: runner.view(websites),
    accessTokens,
    failedAttempts,
  });
  const limiter = createRateLimiter({
    store,
    view: runner.view(rate),
    instance: randomUUID(),
    clock,
    burstWindowMs: settings.burstWindowMs,
    burstLimit: settings.burstLimit,
    onError,
  });
  resources.defer(limiter.close);
  // Grants no access. With the current view, a page could not read its own 503.
  const origins = runner.lastKnownView(verifiedOrigins);
  return {
    authenticator: telemetry.authenticator(authenticator),
    accessTokens,
    failedAttempts,
    limiter: telemetry.limiter(limiter),
    isVerified: (origin) => isVerifiedOrigin(origins, origin),
  };
};
