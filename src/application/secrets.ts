import { hash, timingSafeEqual } from "node:crypto";

/** What is kept of a secret: its SHA-256, hexadecimal. A secret has 256 random bits, so no salt is needed. */
export const hashSecret = (secret: string): string => hash("sha256", secret);

/** Whether the secret is one of those; every hash is compared whole, so the time tells nothing of which. */
export const secretMatches = (presented: string, secrets: readonly { readonly hash: string }[]): boolean => {
  const digest = hash("sha256", presented, "buffer");
  let matches = false;
  for (const secret of secrets) {
    const known = Buffer.from(secret.hash, "hex");
    const same = known.length === digest.length && timingSafeEqual(known, digest);
    matches = same || matches;
  }
  return matches;
};
