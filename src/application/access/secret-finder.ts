import { findKey } from "../../../projections/keys.ts";
import type { LiveView } from "../../../projections/runner/view.ts";
import type { IssuedKey, Key } from "../../domain/accounts/key.ts";
import { type Principal, principalOf } from "./principal.ts";
import { matchingSecret } from "./secrets.ts";

/**
 * The maximum number of remembered secrets. Each takes about 300 bytes, and keeps in memory the
 * state that its key had then.
 */
const defaultMaxPresented = 200_000;

/** A secret that was presented, and the principal that it proved. */
interface Presented {
  /**
   * The key's state that `principal` was made from. A changed key has a new state: `evolveKey`
   * never mutates one.
   */
  readonly key: IssuedKey;
  readonly principal: Principal;
  /** `LiveView.changes` when the key's state was last compared. */
  comparedAt: number;
}

/** Finds the principal of a key and one of its secrets; undefined for a wrong or revoked secret. */
export type FindBySecret = (apiKey: string, secret: string) => Principal | undefined;

/**
 * Remembers the principals of valid secrets up to a bound, so that a repeated secret is neither
 * hashed nor looked up again. A principal is compared with its key's state after each change of any
 * key, so a revoked secret is refused at once, and a changed plan or suspension takes effect at
 * once. A wrong secret leaves no trace. Response times reveal that a secret is remembered, but only
 * to those who present the whole secret: a `Map` compares two strings only if their hashes, which
 * V8 seeds, are equal.
 */
export const createSecretFinder = (keys: LiveView<Key>, maxPresented = defaultMaxPresented): FindBySecret => {
  const presented = new Map<string, Presented>();

  const isUnchanged = (known: Presented, changes: number): boolean => {
    if (known.comparedAt === changes) return true;
    const isSame = findKey(keys, known.principal.apiKey) === known.key;
    if (isSame) known.comparedAt = changes;
    return isSame;
  };

  return (apiKey, secret) => {
    const { changes } = keys;
    const known = presented.get(secret);
    if (known && known.principal.apiKey === apiKey && isUnchanged(known, changes)) return known.principal;
    const key = findKey(keys, apiKey);
    // The secret is hashed for an unknown key too, so that the response time does not tell whether
    // a key exists.
    const match = matchingSecret(secret, key?.secrets ?? []);
    if (!key || !match) {
      if (known?.principal.apiKey === apiKey) presented.delete(secret); // it was revoked
      return undefined;
    }
    const principal = principalOf(key, { by: "secret", secretId: match.secretId });
    // Clearing is cheaper than evicting the least recently used secret. Active secrets are soon
    // remembered again.
    if (!known && presented.size >= maxPresented) presented.clear();
    presented.set(secret, { key, principal, comparedAt: changes });
    return principal;
  };
};
