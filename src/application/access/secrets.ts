import { hash, timingSafeEqual } from "node:crypto";

/** What is kept of a secret: its SHA-256, hexadecimal. A secret has 256 random bits, so no salt is needed. */
export const hashSecret = (secret: string): string => hash("sha256", secret);

/** The one of the secrets that was presented; every hash is compared whole, so the time tells nothing of which. */
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
