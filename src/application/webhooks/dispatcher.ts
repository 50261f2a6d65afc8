import { type Deliveries, dueIn, isDue, unfinishedIn } from "../../../projections/deliveries.ts";
import { findKey } from "../../../projections/keys.ts";
import type { View } from "../../../projections/runner/view.ts";
import { latestSuspensions, type SuspensionChange } from "../../../projections/suspensions.ts";
import { allWebhooks } from "../../../projections/webhooks.ts";
import { repeatEvery } from "../../async/repeat.ts";
import type { Time } from "../../async/time.ts";
import type { Key } from "../../domain/accounts/key.ts";
import { Unavailable } from "../../domain/errors.ts";
import { thresholdId } from "../../domain/ledger/accounts/usage-event-ids.ts";
import {
  deliveryDecider,
  deliveryStream,
  finishAttempt,
  queueDelivery,
  startAttempt,
} from "../../domain/webhooks/delivery.ts";
import type { WebhookEventType, WebhookMessage } from "../../domain/webhooks/message.ts";
import {
  disableWebhook,
  isSubscribed,
  type Webhook,
  type Webhooks,
  webhookOf,
  webhooksDecider,
  webhooksStream,
} from "../../domain/webhooks/webhooks.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import type { CrossedThresholds } from "../../ledger/quota/quota-thresholds.ts";
import { gone, type SendOptions, sendMessage } from "./send-message.ts";

export type DeliveryOutcome = "succeeded" | "failed" | "abandoned";

interface WebhookDispatcherOptions extends SendOptions {
  readonly handler: Pick<CommandHandler, "execute">;
  readonly webhooks: View<Webhooks>;
  readonly deliveries: View<Deliveries>;
  readonly suspensions: View<readonly SuspensionChange[]>;
  readonly keys: View<Key>;
  /** Resolves when the views show the position. */
  readonly untilVisible: (position: number) => Promise<void>;
  readonly time: Time;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly onOutcome?: (outcome: DeliveryOutcome) => void;
}

const intervalMs = 1_000;
/**
 * Concurrent requests are limited for each webhook only, so that a webhook that does not respond
 * never delays others.
 */
const maxActivePerWebhook = 4;
/** Further messages are not queued. */
const maxQueuedPerWebhook = 10_000;
const system = { actor: "system" };

/**
 * Queues messages for the webhooks that subscribe to them, and starts the deliveries that are due.
 */
export class WebhookDispatcher {
  readonly #options: WebhookDispatcherOptions;
  /** The deliveries in progress, by the name of their stream, and their webhooks. */
  readonly #active = new Map<string, { readonly webhookId: string; readonly ended: Promise<void> }>();
  /**
   * The ids of messages that were due at the last search and have not been started, the latest
   * first. They are kept because a search reads all deliveries of a webhook.
   */
  readonly #due = new WeakMap<Deliveries, string[]>();
  /** The ids of suspensions whose messages are queued. */
  #queued = new Set<string>();
  #queuing: Promise<void> | undefined;
  readonly #stop = new AbortController();
  readonly #endSchedule: () => void;

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options;
    this.#endSchedule = repeatEvery(intervalMs, options.time, async () => this.dispatch());
  }

  /** The number of deliveries in progress. */
  get active(): number {
    return this.#active.size;
  }

  /**
   * Ends the schedule, aborts the requests in flight and waits until they have ended. They are
   * repeated after two minutes.
   */
  close = async (): Promise<void> => {
    this.#stop.abort(new Error("the service is shutting down"));
    this.#endSchedule();
    await this.#queuing;
    await Promise.all([...this.#active.values()].map(({ ended }) => ended));
  };

  /**
   * Queues the messages of a key's thresholds, each once.
   * @throws {Unavailable}
   */
  queueThresholds = async ({ apiKey, month, crossed }: CrossedThresholds): Promise<void> => {
    for (const { threshold, characters, quota, at } of crossed) {
      await this.#queue("quota.threshold_crossed", apiKey, {
        id: thresholdId(apiKey, month, threshold),
        timestamp: at,
        data: { month, threshold, characters, quota },
      });
    }
  };

  /**
   * Queues the messages of suspensions, and starts the deliveries that are due. Runs every second.
   */
  dispatch = (): void => {
    this.#unlessStopped(() => {
      this.#queuing ??= this.#queueSuspensions().finally(() => {
        this.#queuing = undefined;
      });
      for (const webhookId of Object.keys(allWebhooks(this.#options.webhooks))) this.#startDue(webhookId);
    });
  };

  #unlessStopped(start: () => void): void {
    if (this.#stop.signal.aborted) return;
    try {
      start();
    } catch (error) {
      // A view that lags is asked again a second later.
      if (!(error instanceof Unavailable)) this.#options.onError("webhooks could not be delivered", error);
    }
  }

  async #queueSuspensions(): Promise<void> {
    const { suspensions, onError } = this.#options;
    try {
      const latest = latestSuspensions(suspensions);
      for (const { id, type, apiKey, cause, reason, at } of latest) {
        if (this.#queued.has(id)) continue;
        const data = { ...(cause !== undefined && { cause }), reason };
        const named = type === "KeySuspended" ? "key.suspended" : "key.reinstated";
        await this.#queue(named, apiKey, { id, timestamp: at, data });
        this.#queued.add(id);
      }
      this.#queued = new Set(latest.map(({ id }) => id)).intersection(this.#queued);
    } catch (error) {
      if (!(error instanceof Unavailable)) onError("messages for webhooks could not be queued", error);
    }
  }

  /** Queues the message for each webhook that subscribes to it. Repeating it is harmless. */
  async #queue(
    type: WebhookEventType,
    apiKey: string,
    { id, timestamp, data }: Omit<WebhookMessage, "type">,
  ): Promise<void> {
    const { webhooks, deliveries, keys, clock, handler, onError } = this.#options;
    const websiteId = findKey(keys, apiKey)?.websiteId;
    if (websiteId === undefined) return;
    const message = { id, type, timestamp, data: { apiKey, websiteId, ...data } };
    for (const webhook of Object.values(allWebhooks(webhooks))) {
      const { webhookId } = webhook;
      if (!isSubscribed(webhook, type, { apiKey, websiteId }, timestamp)) continue;
      const known = deliveries.get(webhookId);
      if (known && Object.hasOwn(known.byId, id)) continue;
      if (known && unfinishedIn(known) >= maxQueuedPerWebhook) {
        onError("a message for a webhook is dropped", new Error(`the queue of ${webhookId} is full`));
        continue;
      }
      const at = new Date(clock()).toISOString();
      const stream = deliveryStream(webhookId, id);
      await handler.execute(deliveryDecider, stream, (one) => queueDelivery(one, message, at), system);
    }
  }

  #startDue(webhookId: string): void {
    const { webhooks, deliveries, clock } = this.#options;
    const webhook = webhookOf(allWebhooks(webhooks), webhookId);
    const known = deliveries.get(webhookId);
    let free = maxActivePerWebhook - this.#activeOf(webhookId);
    if (webhook?.status !== "enabled" || !known || free <= 0) return;
    const now = new Date(clock()).toISOString();
    const found = this.#due.get(known);
    const due = found && found.length > 0 ? found : dueIn(known, now).reverse();
    this.#due.set(known, due);
    while (free > 0) {
      const messageId = due.pop();
      if (messageId === undefined) return;
      const stream = deliveryStream(webhookId, messageId);
      if (this.#active.has(stream) || !isDue(known, messageId, now)) continue;
      free -= 1;
      this.#start(webhook, stream);
    }
  }

  #activeOf(webhookId: string): number {
    return this.#active
      .values()
      .filter((one) => one.webhookId === webhookId)
      .toArray().length;
  }

  #start(webhook: Webhook, stream: string): void {
    const ended = this.#attempt(webhook, stream).then(
      () => {
        this.#active.delete(stream);
        this.#unlessStopped(() => this.#startDue(webhook.webhookId));
      },
      (error) => {
        // The delivery is still due, but a busy event store would refuse it again at once.
        this.#active.delete(stream);
        this.#options.onError("a webhook's delivery could not be recorded", error);
      },
    );
    this.#active.set(stream, { webhookId: webhook.webhookId, ended });
  }

  /** Another instance may have started the attempt: then it is not sent here. */
  async #attempt(webhook: Webhook, stream: string): Promise<void> {
    const { handler, clock, random, onOutcome, onError, untilVisible } = this.#options;
    const now = (): string => new Date(clock()).toISOString();
    const started = await handler.execute(
      deliveryDecider,
      stream,
      (delivery) => startAttempt(delivery, now()),
      system,
    );
    if (started.events.length === 0 || started.state.status === "absent") {
      await untilVisible(started.position);
      return;
    }
    const { message, attempts } = started.state;
    const sent = await sendMessage(webhook, message, this.#options, this.#stop.signal);
    if (!sent) return;
    const outcome = { ...sent, attempt: attempts.length, at: now(), jitter: random() };
    if (sent.status === gone) await this.#disable(webhook);
    const ended = await handler.execute(
      deliveryDecider,
      stream,
      (delivery) => finishAttempt(delivery, outcome),
      system,
    );
    const hasFailed = ended.state.status === "failed";
    onOutcome?.(sent.error === undefined ? "succeeded" : hasFailed ? "abandoned" : "failed");
    if (sent.error !== undefined) {
      const what = hasFailed ? "a webhook's message is given up" : "a webhook's message was not accepted";
      onError(
        what,
        new Error(`${webhook.webhookId}, ${message.id}, attempt ${attempts.length}: ${sent.error}`),
      );
    }
    await untilVisible(ended.position);
  }

  async #disable({ webhookId }: Webhook): Promise<void> {
    const { handler, clock } = this.#options;
    const at = new Date(clock()).toISOString();
    const disabled = { webhookId, by: "receiver", at } as const;
    await handler.execute(webhooksDecider, webhooksStream, (all) => disableWebhook(all, disabled), system);
  }
}
