import { createHmac } from "node:crypto";
import type { WebhookMessage } from "../../domain/webhooks/message.ts";
import type { Random } from "../accounts/identifiers.ts";

const prefix = "whsec_";

/** A secret as Standard Webhooks writes it: 256 random bits in base64. */
export const newWebhookSecret = (random: Random): string => `${prefix}${random(32).toString("base64")}`;

/** A signed request, without its address. */
export interface SignedMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Signs a message as Standard Webhooks 1.0 specifies, once with each secret. The time of the
 * attempt is signed too, so that an old request cannot be repeated by others. `now`: milliseconds
 * since the epoch.
 */
export const signMessage = (
  { id, type, timestamp, data }: WebhookMessage,
  secrets: readonly string[],
  now: number,
): SignedMessage => {
  const body = JSON.stringify({ type, timestamp, data });
  const seconds = Math.floor(now / 1_000);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
  });
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "voxledger",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  };
  return { headers, body };
};
