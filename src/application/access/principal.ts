import type { SuspensionCause } from "../../domain/accounts/event-shapes.ts";
import type { IssuedKey } from "../../domain/accounts/key.ts";
import type { Plan } from "../../domain/accounts/plan.ts";

/** A key with its current permissions, for which a request is made. */
export interface ActingKey {
  readonly apiKey: string;
  readonly websiteId: string;
  readonly plan: Plan;
  /** While the key is suspended. */
  readonly suspension?: { readonly cause: SuspensionCause; readonly reason: string };
}

/** An authenticated caller. */
export interface Principal extends ActingKey {
  readonly proof: Proof;
  /** Set when authenticated by an access token: its validity. */
  readonly token?: Validity;
}

/**
 * The proof of authentication: one of the key's secrets, or an origin of the website. It is valid until the secret is
 * revoked or the origin withdrawn, and so are tokens bound to it.
 */
export type Proof =
  | { readonly by: "secret"; readonly secretId: string }
  | { readonly by: "origin"; readonly origin: string };

/** In unix seconds. */
export interface Validity {
  readonly issuedAt: number;
  readonly exp: number;
}

export const principalOf = (key: IssuedKey, proof: Proof): Principal => ({ ...actingKey(key), proof });

export const actingKey = (key: IssuedKey): ActingKey => {
  const { apiKey, websiteId, plan } = key;
  if (key.status !== "suspended") return { apiKey, websiteId, plan };
  const { cause, reason } = key;
  return { apiKey, websiteId, plan, suspension: { cause, reason } };
};
