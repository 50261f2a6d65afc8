import { LRUCache } from "lru-cache";
import type { View } from "../../projections/runner.ts";
import { RateLimited, Unauthorized } from "../domain/errors.ts";
import { type Key, keyStream } from "../domain/key.ts";
import type { Principal, Proof } from "./principal.ts";
import { matchingSecret } from "./secrets.ts";

export type { Principal };

export interface Authenticator {
  /**
   * A key and its secret, as two headers carry them.
   * @throws {Unauthorized} saying the same whatever is wrong
   * @throws {RateLimited} instead, for a client that has failed too often lately
   */
  bySecret(credentials: { apiKey: unknown; apiSecret: unknown }, client: string): Principal;
}

/** Failures of one client in one minute that are answered as such. Right credentials pass all the same. */
export const maxFailuresPerMinute = 30;
const maxClients = 50_000;
const minuteMs = 60_000;

export const createAuthenticator = ({
  keys,
  clock,
}: {
  keys: View<Key>;
  clock: () => number;
}): Authenticator => {
  const failures = new LRUCache<string, { minute: number; count: number }>({ max: maxClients });

  const refuse = (client: string): never => {
    const now = clock();
    const minute = Math.floor(now / minuteMs);
    const known = failures.get(client);
    const count = known?.minute === minute ? known.count + 1 : 1;
    failures.set(client, { minute, count });
    if (count <= maxFailuresPerMinute) throw new Unauthorized("The API key or secret is missing or wrong.");
    const left = Math.max(1, Math.ceil((minuteMs - (now % minuteMs)) / 1_000));
    throw new RateLimited("Too many failed attempts from this address.", "failures", left);
  };

  return {
    bySecret: ({ apiKey, apiSecret }, client) => {
      if (typeof apiKey !== "string" || typeof apiSecret !== "string") return refuse(client);
      const key = keys.get(keyStream(apiKey));
      if (!key || key.status === "absent") return refuse(client);
      const secret = matchingSecret(apiSecret, key.secrets);
      if (!secret) return refuse(client);
      return principalOf(key, { by: "secret", secretId: secret.secretId });
    },
  };
};

const principalOf = (key: Exclude<Key, { status: "absent" }>, proof: Proof): Principal => ({
  apiKey: key.apiKey,
  websiteId: key.websiteId,
  plan: key.plan,
  ...(key.status === "suspended" && { suspension: key.reason }),
  proof,
});
