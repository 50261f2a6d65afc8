import { type Deliveries, queuedIn } from "../../../projections/deliveries.ts";
import type { View } from "../../../projections/runner/view.ts";
import { allWebhooks } from "../../../projections/webhooks.ts";
import type { Encrypted } from "../../domain/accounts/event-shapes.ts";
import { keyDecider, keyStream, requireIssued } from "../../domain/accounts/key.ts";
import { requireWebsite, websiteDecider, websiteStream } from "../../domain/accounts/website.ts";
import { Invalid } from "../../domain/errors.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  type Attempt,
  type Delivery,
  deliveryDecider,
  deliveryStream,
  type QueuedDelivery,
  queueDelivery,
} from "../../domain/webhooks/delivery.ts";
import type { DisabledBy, WebhookTarget } from "../../domain/webhooks/event-shapes.ts";
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
  /** Says who disabled it. */
  readonly disabled?: { readonly by: DisabledBy; readonly since: string };
  readonly addedAt: string;
}

export interface NewWebhook extends WebhookDetails {
  /** The secret, which is returned only here. */
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

interface WebhookChange {
  readonly url?: string | undefined;
  readonly events?: readonly WebhookEventType[] | undefined;
  readonly enabled?: boolean | undefined;
}

interface WebhookReencryption {
  readonly reencrypted: number;
  readonly current: number;
  readonly unopened: readonly { readonly webhookId: string }[];
}

interface WebhooksOptions {
  readonly execute: ExecuteCommand;
  readonly webhooks: View<Webhooks>;
  readonly deliveries: View<Deliveries>;
  readonly cipher: () => Promise<CredentialsCipher>;
  /** Returns why requests to the address are refused; undefined if they are allowed. */
  readonly refusalOf: (url: URL) => string | undefined;
  readonly clock: () => EpochMs;
  readonly random: Random;
}

/**
 * The service of the installation's webhooks. The effect of a command is visible on this instance
 * when the command resolves. All commands may throw {Unavailable}.
 */
export class WebhooksService {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /**
   * @throws {Invalid} if the address is not allowed
   * @throws {NotFound} if the website or the key is unknown
   * @throws {Conflict} if there are too many
   */
  async add(
    { url, events, websiteId, apiKey }: WebhookTarget & WebhookFilter,
    context: CommandContext,
  ): Promise<NewWebhook> {
    this.#checkUrl(url);
    await this.#requireSubject({ websiteId, apiKey }, context);
    const webhookId = newWebhookId(this.#options.random);
    const { secret, encrypted } = await this.#newSecret(webhookId);
    const filter = {
      ...(websiteId !== undefined && { websiteId }),
      ...(apiKey !== undefined && { apiKey }),
    };
    const added = { webhookId, url, events, ...filter, ...encrypted, at: this.#now() };
    const state = await this.#command((webhooks) => addWebhook(webhooks, added), context);
    return { ...details(requireWebhook(state, webhookId)), secret };
  }

  /** Lists the webhooks, the oldest first. */
  list(): WebhookDetails[] {
    return Object.values(this.#all).map(details);
  }

  /** @throws {NotFound} */
  get(webhookId: string): WebhookDetails {
    return details(requireWebhook(this.#all, webhookId));
  }

  /**
   * @throws {NotFound}
   * @throws {Invalid} if the address is not allowed
   */
  async change(webhookId: string, change: WebhookChange, context: CommandContext): Promise<WebhookDetails> {
    if (change.url !== undefined) this.#checkUrl(change.url);
    const at = this.#now();
    const state = await this.#command((all) => changeWebhook(all, { webhookId, ...change, at }), context);
    return details(requireWebhook(state, webhookId));
  }

  /** @throws {NotFound} */
  async remove(webhookId: string, context: CommandContext): Promise<void> {
    await this.#command((all) => removeWebhook(all, { webhookId, at: this.#now() }), context);
  }

  /**
   * The former secret is used for a day more.
   * @throws {NotFound}
   */
  async rotateSecret(webhookId: string, context: CommandContext): Promise<{ readonly secret: string }> {
    const { secret, encrypted } = await this.#newSecret(webhookId);
    const rotated = { webhookId, ...encrypted, at: this.#now() };
    await this.#command((all) => rotateWebhookSecret(all, rotated), context);
    return { secret };
  }

  /**
   * Queues a message.
   * @throws {NotFound}
   */
  async test(webhookId: string, context: CommandContext): Promise<DeliveryDetails> {
    const { execute, clock } = this.#options;
    requireWebhook(await this.#command(() => [], context), webhookId);
    const at = this.#now();
    const id = uuidv7(clock());
    const message = { id, type: "webhook.test", timestamp: at, data: { webhookId } } as const;
    const stream = deliveryStream(webhookId, id);
    const queue = (delivery: Delivery) => queueDelivery(delivery, message, at);
    const queued = await execute(deliveryDecider, stream, queue, context);
    return deliveryDetails(id, queued as QueuedDelivery);
  }

  /**
   * Lists the deliveries in progress and the last finished ones, the newest first.
   * @throws {NotFound}
   */
  deliveries(webhookId: string): DeliveryDetails[] {
    requireWebhook(this.#all, webhookId);
    const known = this.#options.deliveries.get(webhookId);
    const all = known ? queuedIn(known) : [];
    return all.map(([id, delivery]) => deliveryDetails(id, delivery)).reverse();
  }

  /** Encrypts all secrets that are still used under the current key. */
  readonly reencrypt = async (context: CommandContext): Promise<WebhookReencryption> => {
    const unopened: { webhookId: string }[] = [];
    let [reencrypted, current] = [0, 0];
    for (const { webhookId, secret, former } of Object.values(this.#all)) {
      const isFormerUsed = former !== undefined && former.until > this.#now();
      for (const was of isFormerUsed ? [secret, former.secret] : [secret]) {
        const { keyId, decrypt, encrypt } = await this.#options.cipher();
        if (was.keyId === keyId) {
          current++;
          continue;
        }
        try {
          const encrypted = encrypt(decrypt(was, { webhookId }), { webhookId });
          const renewed = { was: was.ciphertext, ...encrypted, at: this.#now() };
          const data = { webhookId, former: was !== secret, ...renewed };
          await this.#command((all) => reencryptWebhookSecret(all, data), context);
          reencrypted++;
        } catch (error) {
          if (!(error instanceof DecryptionFailed)) throw error;
          unopened.push({ webhookId });
        }
      }
    }
    return { reencrypted, current, unopened };
  };

  get #all(): Webhooks {
    return allWebhooks(this.#options.webhooks);
  }

  #now(): string {
    return new Date(this.#options.clock()).toISOString();
  }

  #command(decide: (webhooks: Webhooks) => WebhookEvent[], context: CommandContext): Promise<Webhooks> {
    return this.#options.execute(webhooksDecider, webhooksStream, decide, context);
  }

  #checkUrl(url: string): void {
    const why = this.#options.refusalOf(new URL(url));
    if (why !== undefined) throw new Invalid([{ path: ["url"], message: `The url is not allowed: ${why}.` }]);
  }

  async #requireSubject({ websiteId, apiKey }: WebhookFilter, context: CommandContext): Promise<void> {
    const { execute } = this.#options;
    if (websiteId !== undefined)
      await execute(websiteDecider, websiteStream(websiteId), requireWebsite, context);
    if (apiKey !== undefined) requireIssued(await execute(keyDecider, keyStream(apiKey), () => [], context));
  }

  async #newSecret(webhookId: string): Promise<{ secret: string; encrypted: Encrypted }> {
    const { random, cipher } = this.#options;
    const secret = newWebhookSecret(random);
    return { secret, encrypted: (await cipher()).encrypt(secret, { webhookId }) };
  }
}

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
