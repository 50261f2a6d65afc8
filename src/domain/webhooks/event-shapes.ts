import { encrypted } from "../accounts/event-shapes.ts";
import { boolean, code, type DataOf, listOf, optional, text, utcTime } from "../shape.ts";
import type { WebhookEventType } from "./message.ts";

const webhook = { webhookId: text, at: utcTime };
export type WebhookRecord = DataOf<typeof webhook>;

const target = { url: text, events: listOf(code<WebhookEventType>()) };
export type WebhookTarget = DataOf<typeof target>;

/**
 * `receiver`: the receiver has responded with 410 Gone. `restore`: the log was restored from a
 * backup, so messages could be sent a second time.
 */
export type DisabledBy = "operator" | "receiver" | "restore";

export const webhookShapes = {
  /** The webhook is about the keys of the website, or about one key. Default: all. */
  WebhookAdded: { ...webhook, ...target, ...encrypted, websiteId: optional(text), apiKey: optional(text) },
  WebhookChanged: { ...webhook, ...target },
  WebhookEnabled: webhook,
  WebhookDisabled: { ...webhook, by: code<DisabledBy>() },
  /** Until `formerUntil`, messages are also signed with the former secret. */
  WebhookSecretRotated: { ...webhook, ...encrypted, formerUntil: utcTime },
  /** The same secret under another key. */
  WebhookSecretReencrypted: { ...webhook, ...encrypted, former: boolean },
  WebhookRemoved: webhook,
};
