import { z } from "zod";
import type { Encrypted } from "../accounts/event-shapes.ts";
import { Conflict, NotFound } from "../errors.ts";
import { never } from "../never.ts";
import type { DataOf, EventOf } from "../shape.ts";
import type { DisabledBy, WebhookRecord, WebhookTarget, webhookShapes } from "./event-shapes.ts";
import { type MessageSubject, type WebhookEventType, webhookEventTypes } from "./message.ts";

/** All webhooks of the installation. Stream `webhooks`. Times are ISO 8601, UTC. */
export type WebhookEvent = EventOf<typeof webhookShapes>;

/** Selects the keys that a webhook is about. Default: all. */
export interface WebhookFilter {
  readonly websiteId?: string | undefined;
  readonly apiKey?: string | undefined;
}

export type WebhookAdded = DataOf<typeof webhookShapes.WebhookAdded>;

interface WebhookMembers extends WebhookTarget, WebhookFilter {
  readonly webhookId: string;
  readonly secret: Encrypted;
  readonly former?: { readonly secret: Encrypted; readonly until: string };
  readonly addedAt: string;
  /** The times of subscriptions by type. Earlier events are not sent. */
  readonly subscribedAt: SubscriptionTimes;
}

type SubscriptionTimes = Readonly<Partial<Record<WebhookEventType, string>>>;

export type Webhook = WebhookMembers &
  (
    | { readonly status: "enabled" }
    | { readonly status: "disabled"; readonly by: DisabledBy; readonly since: string }
  );

/** Webhooks by id, in the order in which they were added. */
export type Webhooks = Readonly<Record<string, Webhook>>;

export const webhooksStream = "webhooks";

/** Each webhook costs a delivery per event. */
export const maxWebhooks = 50;
/** For this time after a rotation, messages are also signed with the former secret. */
export const formerSecretMs = 24 * 60 * 60_000;

export const webhookUrl = z
  .url({ protocol: /^https?$/, error: "The url must be an absolute URL, such as https://example.com/hook." })
  .max(2_000);
export const webhookEvents = z
  .array(z.enum(webhookEventTypes))
  .min(1)
  .max(webhookEventTypes.length)
  .transform((events) => [...new Set(events)]);

export const initialWebhooks = (): Webhooks => ({});

const evolveWebhooks = (webhooks: Webhooks, event: WebhookEvent): Webhooks => {
  const { webhookId, at } = event.data;
  if (event.type === "WebhookAdded") {
    const { ciphertext, keyId, at: addedAt, ...members } = event.data;
    return {
      ...webhooks,
      [webhookId]: {
        ...members,
        secret: { ciphertext, keyId },
        addedAt,
        subscribedAt: subscribed(members.events, addedAt),
        status: "enabled",
      },
    };
  }
  const was = webhookOf(webhooks, webhookId);
  if (!was) return webhooks;
  const changed = (webhook: Webhook): Webhooks => ({ ...webhooks, [webhookId]: webhook });
  switch (event.type) {
    case "WebhookChanged": {
      const { url, events } = event.data;
      return changed({ ...was, url, events, subscribedAt: subscribed(events, at, was.subscribedAt) });
    }
    case "WebhookEnabled":
      return changed({ ...membersOf(was), subscribedAt: subscribed(was.events, at), status: "enabled" });
    case "WebhookDisabled":
      return changed({ ...membersOf(was), status: "disabled", by: event.data.by, since: at });
    case "WebhookSecretRotated": {
      const { ciphertext, keyId, formerUntil: until } = event.data;
      return changed({ ...was, secret: { ciphertext, keyId }, former: { secret: was.secret, until } });
    }
    case "WebhookSecretReencrypted": {
      const { ciphertext, keyId, former } = event.data;
      const secret = { ciphertext, keyId };
      if (!former) return changed({ ...was, secret });
      return was.former ? changed({ ...was, former: { ...was.former, secret } }) : webhooks;
    }
    case "WebhookRemoved": {
      const { [webhookId]: _removed, ...others } = webhooks;
      return others;
    }
    default:
      return never(event, webhooks);
  }
};

const subscribed = (
  events: readonly WebhookEventType[],
  at: string,
  known: SubscriptionTimes = {},
): SubscriptionTimes => Object.fromEntries(events.map((type) => [type, known[type] ?? at]));

export const webhooksDecider = { initial: initialWebhooks, evolve: evolveWebhooks };

/** @throws {Conflict} if there are too many */
export const addWebhook = (webhooks: Webhooks, added: WebhookAdded): WebhookEvent[] => {
  if (Object.keys(webhooks).length >= maxWebhooks) {
    throw new Conflict(`There are at most ${maxWebhooks} webhooks: remove one first.`);
  }
  return [{ type: "WebhookAdded", data: added }];
};

export interface ChangeWebhook extends WebhookRecord {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly enabled?: boolean | undefined;
}

/** @throws {NotFound} */
export const changeWebhook = (webhooks: Webhooks, change: ChangeWebhook): WebhookEvent[] => {
  const { webhookId, enabled, at } = change;
  const was = requireWebhook(webhooks, webhookId);
  const { url = was.url, events = was.events } = change;
  const changes: WebhookEvent[] = [];
  if (url !== was.url || events.join() !== was.events.join()) {
    changes.push({ type: "WebhookChanged", data: { webhookId, url, events, at } });
  }
  if (enabled === true && was.status === "disabled")
    changes.push({ type: "WebhookEnabled", data: { webhookId, at } });
  if (enabled === false) changes.push(...disableWebhook(webhooks, { webhookId, by: "operator", at }));
  return changes;
};

/** Returns no event if it is disabled or removed. */
export const disableWebhook = (
  webhooks: Webhooks,
  disabled: WebhookRecord & { readonly by: DisabledBy },
): WebhookEvent[] =>
  webhookOf(webhooks, disabled.webhookId)?.status === "enabled"
    ? [{ type: "WebhookDisabled", data: disabled }]
    : [];

/** Disables all webhooks of a restored log, until an operator enables them. */
export const pauseWebhooks = (webhooks: Webhooks, at: string): WebhookEvent[] =>
  Object.keys(webhooks).flatMap((webhookId) => disableWebhook(webhooks, { webhookId, by: "restore", at }));

/** @throws {NotFound} */
export const rotateWebhookSecret = (
  webhooks: Webhooks,
  rotated: WebhookRecord & Encrypted,
): WebhookEvent[] => {
  requireWebhook(webhooks, rotated.webhookId);
  const formerUntil = new Date(Date.parse(rotated.at) + formerSecretMs).toISOString();
  return [{ type: "WebhookSecretRotated", data: { ...rotated, formerUntil } }];
};

/** Returns no event if the secret was replaced after it was opened (`was`). */
export const reencryptWebhookSecret = (
  webhooks: Webhooks,
  { was, ...data }: WebhookRecord & Encrypted & { readonly former: boolean; readonly was: string },
): WebhookEvent[] => {
  const webhook = webhookOf(webhooks, data.webhookId);
  const secret = data.former ? webhook?.former?.secret : webhook?.secret;
  return secret?.ciphertext === was ? [{ type: "WebhookSecretReencrypted", data }] : [];
};

/** @throws {NotFound} */
export const removeWebhook = (webhooks: Webhooks, removed: WebhookRecord): WebhookEvent[] => {
  requireWebhook(webhooks, removed.webhookId);
  return [{ type: "WebhookRemoved", data: removed }];
};

/** @throws {NotFound} */
export const requireWebhook = (webhooks: Webhooks, webhookId: string): Webhook => {
  const webhook = webhookOf(webhooks, webhookId);
  if (!webhook) throw new NotFound("There is no such webhook.");
  return webhook;
};

/** The id may come from a request: a webhook must not be found for `constructor`. */
export const webhookOf = (webhooks: Webhooks, webhookId: string): Webhook | undefined =>
  Object.hasOwn(webhooks, webhookId) ? webhooks[webhookId] : undefined;

/** True if the webhook receives events of this type and key that happened at this time. */
export const isSubscribed = (
  { status, websiteId, apiKey, subscribedAt }: Webhook,
  type: WebhookEventType,
  subject: MessageSubject,
  at: string,
): boolean => {
  const { [type]: since } = subscribedAt;
  return (
    status === "enabled" &&
    since !== undefined &&
    since <= at &&
    (websiteId ?? subject.websiteId) === subject.websiteId &&
    (apiKey ?? subject.apiKey) === subject.apiKey
  );
};

const membersOf = (webhook: Webhook): WebhookMembers => {
  const { webhookId, url, events, websiteId, apiKey, secret, former, addedAt, subscribedAt } = webhook;
  return {
    webhookId,
    url,
    events,
    ...(websiteId !== undefined && { websiteId }),
    ...(apiKey !== undefined && { apiKey }),
    secret,
    ...(former && { former }),
    addedAt,
    subscribedAt,
  };
};
