import { hash, timingSafeEqual } from "node:crypto";

/**
 * The stored form of a secret: its SHA-256 in hex. Secrets have 256 random bits, so no salt is
 * needed.
 */
export const hashSecret = (secret: string): string => hash("sha256", secret);

/** Finds the entry of a presented secret. Compares all hashes in constant time. */
export const matchingSecret = <S extends { readonly hash: string }>(
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
