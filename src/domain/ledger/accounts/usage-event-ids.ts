import { hash } from "node:crypto";

/**
 * The event id of a posting: a UUID (version 8) that is the same for every process that posts this
 * range.
 */
export const postingId = (journal: string, apiKey: string, month: string, postedUpTo: number): string =>
  uuidOf(`posting ${journal} ${apiKey} ${month} ${postedUpTo}`);

/** The event id of an account's `AccountClosed`. */
export const closingId = (apiKey: string, month: string): string => uuidOf(`closing ${apiKey} ${month}`);

/** The event id of a `QuotaThresholdCrossed`. */
export const thresholdId = (apiKey: string, month: string, threshold: number): string =>
  uuidOf(`threshold ${apiKey} ${month} ${threshold}`);

/** A UUID (version 8) that is derived from a name. */
export const uuidOf = (name: string): string => {
  const digest = hash("sha256", name);
  const variant = (8 + (Number.parseInt(digest.charAt(16), 16) & 3)).toString(16);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join("-");
};
