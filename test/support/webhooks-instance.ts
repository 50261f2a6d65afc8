import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { type Deliveries, deliveries } from "../../projections/deliveries.ts";
import { keys } from "../../projections/keys.ts";
import { createProjectionRunner, type ProjectionRunner } from "../../projections/runner/runner.ts";
import type { View } from "../../projections/runner/view.ts";
import { suspensions } from "../../projections/suspensions.ts";
import { webhooks } from "../../projections/webhooks.ts";
import {
  type CredentialsCipher,
  createCredentialsCipher,
} from "../../src/application/accounts/credentials-cipher.ts";
import { createExecuteCommand } from "../../src/application/execute-command.ts";
import { WebhookDispatcher } from "../../src/application/webhooks/dispatcher.ts";
import { WebhooksService } from "../../src/application/webhooks/webhooks.ts";
import { openPostWebhook, webhookRefusal } from "../../src/bootstrap/website-servers.ts";
import { issueKey, keyDecider, keyStream } from "../../src/domain/accounts/key.ts";
import { type CommandHandler, createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { createManualTime } from "./manual-time.ts";

export interface WebhooksInstance {
  readonly webhooks: WebhooksService;
  readonly dispatcher: WebhookDispatcher;
  readonly handler: CommandHandler;
  readonly runner: ProjectionRunner;
  readonly errors: string[];
  issueKey(apiKey: string): Promise<void>;
  /** Dispatches until the condition holds. */
  dispatchUntil(holds: () => boolean): Promise<void>;
  /**
   * Resolves when no delivery is in progress. The end of an attempt is visible a little earlier.
   */
  untilIdle(): Promise<void>;
  close(): Promise<void>;
}

export interface WebhooksInstanceOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly allowLoopback?: boolean;
  readonly masterKeys?: readonly [Buffer, ...Buffer[]];
  /** How many commands of the dispatcher may wait at once. */
  readonly maxPending?: number;
  /** Observes what the dispatcher reads. */
  readonly observe?: (view: View<Deliveries>) => View<Deliveries>;
}

export const testCipher = (...masterKeys: [Buffer, ...Buffer[]]): CredentialsCipher =>
  createCredentialsCipher({ keys: masterKeys, random: randomBytes });

const operator = { actor: "admin" };

/**
 * The webhooks of one instance, over a real store and real connections. Dispatches only on request.
 */
export const openWebhooksInstance = async (
  store: EventStore,
  {
    clock = Date.now,
    allowLoopback = true,
    masterKeys = [Buffer.alloc(32, 7)],
    maxPending = 10_000,
    observe = (view) => view,
  }: WebhooksInstanceOptions = {},
): Promise<WebhooksInstance> => {
  const runner = createProjectionRunner({ store, projections: [webhooks, deliveries, suspensions, keys] });
  await runner.start();
  const handler = createCommandHandler({ store, clock });
  const execute = createExecuteCommand({ handler, runner });
  const cipher = async () => testCipher(...masterKeys);
  const networks = { allowLoopback, networks: [] };
  const errors: string[] = [];
  const dispatcher = new WebhookDispatcher({
    handler: createCommandHandler({ store, clock, maxPending }),
    webhooks: runner.view(webhooks),
    deliveries: observe(runner.view(deliveries)),
    suspensions: runner.view(suspensions),
    keys: runner.view(keys),
    untilVisible: (position) => runner.waitForPosition(position),
    cipher,
    post: openPostWebhook(networks, pino({ level: "silent" })),
    clock,
    time: createManualTime(),
    random: () => 0,
    onError: (what, error) => errors.push(`${what}: ${error}`),
  });
  return {
    webhooks: new WebhooksService({
      execute,
      webhooks: runner.view(webhooks),
      deliveries: runner.view(deliveries),
      cipher,
      refusalOf: webhookRefusal(networks),
      clock,
      random: randomBytes,
    }),
    dispatcher,
    handler,
    runner,
    errors,
    issueKey: async (apiKey) => {
      const plan = { tier: "enterprise", requestsPerMinute: 100, monthlyCharacters: 100 } as const;
      const at = new Date(clock()).toISOString();
      const issue = (key: Parameters<typeof issueKey>[0]) =>
        issueKey(key, { apiKey, websiteId: "web_1", plan, at });
      await execute(keyDecider, keyStream(apiKey), issue, operator);
    },
    dispatchUntil: async (holds) => {
      while (!holds()) {
        dispatcher.dispatch();
        await delay(1);
      }
    },
    untilIdle: async () => {
      while (dispatcher.active > 0) await delay(1);
    },
    close: async () => {
      await dispatcher.close();
      await handler.drain();
      await runner.close();
    },
  };
};
