import type { SuspensionCause } from "../../domain/accounts/event-shapes.ts";
import type { IssuedKey } from "../../domain/accounts/key.ts";
import { keyNumberOf } from "../../domain/accounts/key-numbers.ts";
import type { Plan } from "../../domain/accounts/plan.ts";
import { createInterner } from "../../domain/interner.ts";

/** A key with its current permissions, for which a request is made. */
export interface ActingKey {
  readonly apiKey: string;
  /** `keyNumberOf` gives it. */
  readonly keyNumber: number;
  readonly websiteId: string;
  readonly plan: Plan;
  /** It is set while the key is suspended. */
  readonly suspension?: { readonly cause: SuspensionCause; readonly reason: string };
}

/** An authenticated caller. */
export interface Principal extends ActingKey {
  readonly proof: Proof;
  /** The validity of the access token that the caller presented, if it presented one. */
  readonly token?: Validity;
}

/**
 * The proof of authentication: one of the key's secrets, or an origin of the website. It is valid
 * until the secret is revoked or the origin withdrawn, and so are tokens bound to it.
 */
export type Proof =
  | { readonly by: "secret"; readonly secretId: string }
  | { readonly by: "origin"; readonly origin: string };

/** The times of a token are in Unix seconds. */
export interface Validity {
  readonly issuedAt: number;
  readonly exp: number;
  /** The time at which the session began, with other credentials than a token. */
  readonly authTime: number;
}

/**
 * It is built from a literal, because V8 stores some members of a spread object outside of it, and
 * each request reads them.
 */
export const principalOf = (key: IssuedKey, proof: Proof): Principal => {
  const { apiKey, keyNumber, websiteId, plan, suspension } = actingKey(key);
  const principal = { apiKey, keyNumber, websiteId, plan, proof };
  return suspension ? { ...principal, suspension } : principal;
};

export const actingKey = (key: IssuedKey): ActingKey => {
  const { apiKey, websiteId } = key;
  const acting = { apiKey, keyNumber: keyNumberOf(apiKey), websiteId, plan: intern(key.plan) };
  if (key.status !== "suspended") return acting;
  const { cause, reason } = key;
  return { ...acting, suspension: { cause, reason } };
};

/** Keys with equal plans share one object. */
const intern = createInterner<Plan>(
  ({ tier, requestsPerMinute, monthlyCharacters }) => `${tier} ${requestsPerMinute} ${monthlyCharacters}`,
);
