import { hash, timingSafeEqual } from "node:crypto";

/** The stored form of a secret: its SHA-256 in hex. Secrets have 256 random bits, so no salt is needed. */
export const hashSecret = (secret: string): string => hash("sha256", secret);

/** About 80 bytes each. */
const maxKnownSecrets = 200_000;

/**
 * Finds the entry of a presented secret. Compares all hashes in constant time. Remembers which hash a secret has matched, up to
 * a bound: a wrong secret leaves no trace, and a revoked one has no hash left to match. Whether a secret is remembered tells only
 * those who present the whole secret: looking a text up compares it with another one only if their hashes, seeded by V8, are
 * equal.
 */
export const createSecretMatcher = () => {
  const matchedHashes = new Map<string, string>();
  return <S extends { readonly hash: string }>(presented: string, secrets: readonly S[]): S | undefined => {
    const known = matchedHashes.get(presented);
    if (known !== undefined) return secrets.find(({ hash: stored }) => stored === known);
    const match = matchingSecret(presented, secrets);
    if (match) {
      if (matchedHashes.size >= maxKnownSecrets) matchedHashes.clear(); // Cheaper than an order of use: active secrets are soon back.
      matchedHashes.set(presented, match.hash);
    }
    return match;
  };
};

const matchingSecret = <S extends { readonly hash: string }>(
  presented: string,
  secrets: readonly S[],
): S | undefined => {
  const digest = Buffer.from(hashSecret(presented));
  let match: S | undefined;
  for (const secret of secrets) {
    const stored = Buffer.from(secret.hash);
    if (stored.length === digest.length && timingSafeEqual(stored, digest)) match = secret;
  }
  return match;
};
