import type { EpochMs } from "../../domain/time.ts";
import type { AttemptOutcome } from "../../domain/webhooks/delivery.ts";
import type { WebhookMessage } from "../../domain/webhooks/message.ts";
import type { Webhook } from "../../domain/webhooks/webhooks.ts";
import { type CredentialsCipher, DecryptionFailed } from "../accounts/credentials-cipher.ts";
import { type SignedMessage, signMessage } from "./signature.ts";

/**
 * Sends a message once. Resolves with the status of the response, 2xx or not.
 * @throws {WebhookUnreachable}
 */
export type PostWebhook = (url: URL, message: SignedMessage, signal: AbortSignal) => Promise<number>;

/**
 * The server did not respond, or responded with a redirect. The message names the reason, and no
 * address.
 */
export class WebhookUnreachable extends Error {
  override readonly name = "WebhookUnreachable";
  /** The status of a redirect, which is not followed. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { status?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
  }
}

export interface SendOptions {
  readonly cipher: () => Promise<CredentialsCipher>;
  readonly post: PostWebhook;
  readonly clock: () => EpochMs;
  readonly onError: (what: string, error: unknown) => void;
}

/** The status by which a receiver asks for no more messages. */
export const gone = 410;

/**
 * Signs and sends a message. Returns undefined if it was aborted. An attempt without an outcome is
 * repeated, even the last one.
 */
export const sendMessage = async (
  webhook: Webhook,
  message: WebhookMessage,
  { cipher, post, clock, onError }: SendOptions,
  signal: AbortSignal,
): Promise<Pick<AttemptOutcome, "status" | "error" | "isFinal"> | undefined> => {
  try {
    const secrets = secretsOf(webhook, await cipher(), clock());
    const status = await post(new URL(webhook.url), signMessage(message, secrets, clock()), signal);
    if (status >= 200 && status < 300) return { status };
    return { status, error: `HTTP ${status}`, isFinal: status === gone };
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof WebhookUnreachable) return { status: error.status, error: error.message };
    onError("a webhook's message could not be sent", error);
    return { error: "the message could not be signed or sent" };
  }
};

/**
 * A former secret that no key decrypts is left out: it was lost with a master key.
 * @throws {DecryptionFailed} for the current one
 */
const secretsOf = (
  { webhookId, secret, former }: Webhook,
  { decrypt }: CredentialsCipher,
  now: number,
): string[] => {
  const current = decrypt(secret, { webhookId });
  if (former === undefined || Date.parse(former.until) <= now) return [current];
  try {
    return [current, decrypt(former.secret, { webhookId })];
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error;
    return [current];
  }
};
