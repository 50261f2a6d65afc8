import { boolean, listOf, optional, type ShapesOf, text, utcTime } from "../shape.ts";
import type { WebhookEvent } from "./webhooks.ts";

const webhook = { webhookId: text, at: utcTime };
const encrypted = { ciphertext: text, keyId: text };
const target = { url: text, events: listOf(text) };

export const webhookShapes: ShapesOf<WebhookEvent> = {
  WebhookAdded: { ...webhook, ...target, ...encrypted, websiteId: optional(text), apiKey: optional(text) },
  WebhookChanged: { ...webhook, ...target },
  WebhookEnabled: webhook,
  WebhookDisabled: { ...webhook, by: text },
  WebhookSecretRotated: { ...webhook, ...encrypted, formerUntil: utcTime },
  WebhookSecretReencrypted: { ...webhook, ...encrypted, former: boolean },
  WebhookRemoved: webhook,
};
