import { hash, timingSafeEqual } from "node:crypto";

/** The stored form of a secret: its SHA-256 in hex. Secrets have 256 random bits, so no salt is needed. */
export const hashSecret = (secret: string): string => hash("sha256", secret);

/** The presented secret's entry. All hashes are compared in constant time. */
export const matchingSecret = <S extends { readonly hash: string }>(
  presented: string,
  secrets: readonly S[],
): S | undefined => {
  const digest = Buffer.from(hashSecret(presented));
  let match: S | undefined;
  for (const secret of secrets) {
    const known = Buffer.from(secret.hash);
    if (known.length === digest.length && timingSafeEqual(known, digest)) match = secret;
  }
  return match;
};
