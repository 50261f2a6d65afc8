/**
 * The events that a webhook may subscribe to. `application/webhooks/dispatcher.ts` queues their
 * messages.
 */
export const webhookEventTypes = ["quota.threshold_crossed", "key.suspended", "key.reinstated"] as const;

export type WebhookEventType = (typeof webhookEventTypes)[number];

/** A message to a webhook. */
export interface WebhookMessage {
  /** The same for all webhooks and attempts: receivers deduplicate by it. */
  readonly id: string;
  /** `webhook.test` is sent on request, even to a webhook that has not subscribed to it. */
  readonly type: WebhookEventType | "webhook.test";
  /** The time of the reported event, in ISO 8601, UTC. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The key that a message is about. */
export interface MessageSubject {
  readonly apiKey: string;
  readonly websiteId: string;
}
