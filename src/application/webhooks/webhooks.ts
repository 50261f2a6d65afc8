import type { Deliveries } from "../../../projections/deliveries.ts";
import { queuedIn } from "../../../projections/deliveries.ts";
import type { View } from "../../../projections/runner/runner.ts";
import { allWebhooks } from "../../../projections/webhooks.ts";
import type { Encrypted } from "../../domain/accounts/credentials.ts";
import { keyDecider, keyStream, requireIssued } from "../../domain/accounts/key.ts";
import { requireWebsite, websiteDecider, websiteStream } from "../../domain/accounts/website.ts";
import { Invalid } from "../../domain/errors.ts";
import {
  type Attempt,
  deliveryDecider,
  deliveryStream,
  type QueuedDelivery,
  queueDelivery,
} from "../../domain/webhooks/delivery.ts";
import type { WebhookEventType } from "../../domain/webhooks/message.ts";
import {
  addWebhook,
  changeWebhook,
  reencryptWebhookSecret,
  removeWebhook,
  requireWebhook,
  rotateWebhookSecret,
  type Webhook,
  type WebhookEvent,
  type WebhookFilter,
  type Webhooks,
  type WebhookTarget,
  webhooksDecider,
  webhooksStream,
} from "../../domain/webhooks/webhooks.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import { type CredentialsCipher, DecryptionFailed } from "../accounts/credentials-cipher.ts";
import { newWebhookId, type Random } from "../accounts/identifiers.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { newWebhookSecret } from "./signature.ts";

/** A webhook without its secret. Times are ISO 8601, UTC. */
export interface WebhookDetails extends WebhookTarget, WebhookFilter {
  readonly webhookId: string;
  readonly status: "enabled" | "disabled";
  /** By an operator, or because the receiver answered 410 Gone. */
  readonly disabled?: { readonly by: "operator" | "receiver"; readonly since: string };
  readonly addedAt: string;
}

export interface NewWebhook extends WebhookDetails {
  /** Returned once. */
  readonly secret: string;
}

export interface DeliveryDetails {
  /** The `webhook-id` of the request. */
  readonly messageId: string;
  readonly type: string;
  readonly status: "pending" | "succeeded" | "failed";
  readonly queuedAt: string;
  readonly nextAttemptAt?: string;
  readonly attempts: readonly Attempt[];
  readonly data: Readonly<Record<string, unknown>>;
}

export interface WebhookChange {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly enabled?: boolean | undefined;
}

/** Webhooks of the installation. A resolved command is visible on this instance. All may throw {Unavailable}. */
export interface WebhooksService {
  /** @throws {Invalid} an address that is not allowed @throws {NotFound} an unknown website or key @throws {Conflict} too many */
  add(webhook: WebhookTarget & WebhookFilter, context: CommandContext): Promise<NewWebhook>;
  /** The oldest first. */
  list(): WebhookDetails[];
  /** @throws {NotFound} */
  get(webhookId: string): WebhookDetails;
  /** @throws {NotFound} @throws {Invalid} an address that is not allowed */
  change(webhookId: string, change: WebhookChange, context: CommandContext): Promise<WebhookDetails>;
  /** @throws {NotFound} */
  remove(webhookId: string, context: CommandContext): Promise<void>;
  /** The former secret is used for a day more. @throws {NotFound} */
  rotateSecret(webhookId: string, context: CommandContext): Promise<{ readonly secret: string }>;
  /** Queues a message. @throws {NotFound} */
  test(webhookId: string, context: CommandContext): Promise<DeliveryDetails>;
  /** Those in progress and the last finished ones, the newest first. @throws {NotFound} */
  deliveries(webhookId: string): DeliveryDetails[];
  /** Encrypts all secrets under the current key. */
  reencrypt(context: CommandContext): Promise<WebhookReencryption>;
}

export interface WebhookReencryption {
  readonly reencrypted: number;
  readonly current: number;
  readonly unopened: readonly { readonly webhookId: string }[];
}

export interface WebhooksOptions {
  readonly execute: ExecuteCommand;
  readonly webhooks: View<Webhooks>;
  readonly deliveries: View<Deliveries>;
  readonly cipher: () => Promise<CredentialsCipher>;
  /** Undefined if requests to the address are allowed, else why not. */
  readonly refusalOf: (url: URL) => string | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: Random;
}

export const createWebhooks = (options: WebhooksOptions): WebhooksService => {
  const { execute, webhooks: view, deliveries, cipher, refusalOf, clock, random } = options;
  const now = (): string => new Date(clock()).toISOString();
  const command = (
    decide: (webhooks: Webhooks) => WebhookEvent[],
    context: CommandContext,
  ): Promise<Webhooks> => execute(webhooksDecider, webhooksStream, decide, context);

  const checkUrl = (url: string): void => {
    const why = refusalOf(new URL(url));
    if (why !== undefined) throw new Invalid([{ path: ["url"], message: `The url is not allowed: ${why}.` }]);
  };

  const requireSubject = async ({ websiteId, apiKey }: WebhookFilter, context: CommandContext) => {
    if (websiteId !== undefined)
      await execute(websiteDecider, websiteStream(websiteId), requireWebsite, context);
    if (apiKey !== undefined) requireIssued(await execute(keyDecider, keyStream(apiKey), () => [], context));
  };

  const newSecret = async (webhookId: string): Promise<{ secret: string; encrypted: Encrypted }> => {
    const secret = newWebhookSecret(random);
    return { secret, encrypted: (await cipher()).encrypt(secret, { webhookId }) };
  };

  return {
    add: async ({ url, events, websiteId, apiKey }, context) => {
      checkUrl(url);
      await requireSubject({ websiteId, apiKey }, context);
      const webhookId = newWebhookId(random);
      const { secret, encrypted } = await newSecret(webhookId);
      const filter = {
        ...(websiteId !== undefined && { websiteId }),
        ...(apiKey !== undefined && { apiKey }),
      };
      const added = { webhookId, url, events, ...filter, ...encrypted, at: now() };
      const state = await command((webhooks) => addWebhook(webhooks, added), context);
      return { ...details(requireWebhook(state, webhookId)), secret };
    },
    list: () => Object.values(allWebhooks(view)).map(details),
    get: (webhookId) => details(requireWebhook(allWebhooks(view), webhookId)),
    change: async (webhookId, change, context) => {
      if (change.url !== undefined) checkUrl(change.url);
      const at = now();
      const state = await command((all) => changeWebhook(all, { webhookId, ...change, at }), context);
      return details(requireWebhook(state, webhookId));
    },
    remove: async (webhookId, context) => {
      await command((all) => removeWebhook(all, { webhookId, at: now() }), context);
    },
    rotateSecret: async (webhookId, context) => {
      const { secret, encrypted } = await newSecret(webhookId);
      const rotated = { webhookId, ...encrypted, at: now() };
      await command((all) => rotateWebhookSecret(all, rotated), context);
      return { secret };
    },
    test: async (webhookId, context) => {
      requireWebhook(await command(() => [], context), webhookId);
      const at = now();
      const message = {
        id: uuidv7(clock()),
        type: "webhook.test",
        timestamp: at,
        data: { webhookId },
      } as const;
      const stream = deliveryStream(webhookId, message.id);
      const queued = await execute(
        deliveryDecider,
        stream,
        (delivery) => queueDelivery(delivery, message, at),
        context,
      );
      return deliveryDetails(message.id, queued as QueuedDelivery);
    },
    deliveries: (webhookId) => {
      requireWebhook(allWebhooks(view), webhookId);
      const known = deliveries.get(webhookId);
      const all = known ? queuedIn(known) : [];
      return all.map(([id, delivery]) => deliveryDetails(id, delivery)).reverse();
    },
    reencrypt: createReencrypt(options, command),
  };
};

const createReencrypt =
  (
    { webhooks: view, cipher, clock }: WebhooksOptions,
    command: (decide: (webhooks: Webhooks) => WebhookEvent[], context: CommandContext) => Promise<Webhooks>,
  ) =>
  async (context: CommandContext): Promise<WebhookReencryption> => {
    const unopened: { webhookId: string }[] = [];
    let [reencrypted, current] = [0, 0];
    for (const { webhookId, secret, former } of Object.values(allWebhooks(view))) {
      for (const [was, isFormer] of [
        [secret, false] as const,
        ...(former ? [[former.secret, true] as const] : []),
      ]) {
        const { keyId, decrypt, encrypt } = await cipher();
        if (was.keyId === keyId) {
          current++;
          continue;
        }
        try {
          const encrypted = encrypt(decrypt(was, { webhookId }), { webhookId });
          const at = new Date(clock()).toISOString();
          const data = { webhookId, former: isFormer, was: was.ciphertext, ...encrypted, at };
          await command((all) => reencryptWebhookSecret(all, data), context);
          reencrypted++;
        } catch (error) {
          if (!(error instanceof DecryptionFailed)) throw error;
          unopened.push({ webhookId });
        }
      }
    }
    return { reencrypted, current, unopened };
  };

const details = (webhook: Webhook): WebhookDetails => {
  const { webhookId, url, events, websiteId, apiKey, status, addedAt } = webhook;
  return {
    webhookId,
    url,
    events,
    ...(websiteId !== undefined && { websiteId }),
    ...(apiKey !== undefined && { apiKey }),
    status,
    ...(webhook.status === "disabled" && { disabled: { by: webhook.by, since: webhook.since } }),
    addedAt,
  };
};

const deliveryDetails = (
  messageId: string,
  { message, status, queuedAt, dueAt, attempts }: QueuedDelivery,
): DeliveryDetails => ({
  messageId,
  type: message.type,
  status: status === "started" ? "pending" : status,
  queuedAt,
  ...(dueAt !== "" && { nextAttemptAt: dueAt }),
  attempts,
  data: message.data,
});
