/** Random bytes from a cryptographic source. */
export type Random = (bytes: number) => Buffer;

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base = BigInt(digits.length);

/*
 * Identifiers have letters and digits only, because hyphens separate the parts of stream names such
 * as `usage-{apiKey}-{month}`.
 */

/** A key's public name, 136 random bits. */
export const newApiKey = (random: Random): string => `vlk_${base62(random(17), 24)}`;
export const newWebsiteId = (random: Random): string => `web_${base62(random(16), 22)}`;
export const newWebhookId = (random: Random): string => `whk_${base62(random(16), 22)}`;
export const newSecretId = (random: Random): string => `sec_${base62(random(16), 22)}`;

/** A key's secret half, 256 random bits. */
export const newSecret = (random: Random): string => `vls_${random(32).toString("base64url")}`;

/**
 * A token has 256 random bits and the website's id, because the token is looked up in the website's
 * stream.
 */
export const newVerificationToken = (random: Random, websiteId: string): string =>
  `vlv_${random(32).toString("base64url")}.${websiteId}`;

/** The website id in a verification token. */
export const websiteIdOfVerification = (token: string): string | undefined =>
  /^vlv_[\w-]{43}\.(web_[0-9A-Za-z]{22})$/.exec(token)?.[1];

const base62 = (bytes: Buffer, length: number): string => {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (; rest > 0n; rest /= base) text = digits.charAt(Number(rest % base)) + text;
  return text.padStart(length, digits.charAt(0));
};
