import { Option } from "commander";
import type { DeliveryDetails, NewWebhook, WebhookDetails } from "../../application/webhooks/webhooks.ts";
import { parse } from "../../domain/validation.ts";
import { webhookEventTypes } from "../../domain/webhooks/message.ts";
import { webhookEvents, webhookUrl } from "../../domain/webhooks/webhooks.ts";
import { fields, table } from "../columns.ts";
import { operator, printing, type Register, writing } from "../command.ts";

const eventOption = (description: string): Option =>
  new Option("--event <types...>", description).choices(webhookEventTypes);

interface AddOptions {
  readonly event?: string[];
  readonly website?: string;
  readonly key?: string;
}

export const registerWebhookCommands: Register = (program, actions) => {
  const { withServices, read } = actions;
  const webhook = program
    .command("webhook")
    .description("manage webhooks, which receive messages about keys");

  webhook
    .command("add <url>")
    .description("add a webhook; its secret is shown once")
    .addOption(eventOption("event types; default: all"))
    .option("--website <id>", "only events of this website's keys")
    .option("--key <apiKey>", "only events of this key")
    .action(
      printing(newWebhookText, (url: string, { event, website, key }: AddOptions) => {
        const target = {
          url: parse(webhookUrl, url),
          events: parse(webhookEvents, event ?? [...webhookEventTypes]),
        };
        const filter = { websiteId: website, apiKey: key };
        return withServices(({ webhooks }) => webhooks.add({ ...target, ...filter }, operator), writing);
      }),
    );

  webhook
    .command("list")
    .description("list the webhooks, oldest first")
    .action(read(webhookTable, { webhooks: "all" }, ({ webhooks }) => webhooks.list()));

  registerChangeCommands(webhook, actions);
  registerDeliveryCommands(webhook, actions);
};

interface ChangeOptions {
  readonly url?: string;
  readonly event?: string[];
  readonly enable?: true;
  readonly disable?: true;
}

const registerChangeCommands: Register = (webhook, { withServices, write }) => {
  webhook
    .command("change <id>")
    .description("change a webhook's address or events, disable or enable it")
    .option("--url <url>", "the new address")
    .addOption(eventOption("the new event types"))
    .option("--enable", "send messages again")
    .option("--disable", "send no messages")
    .action(
      printing(webhookText, (id: string, { url, event, enable, disable }: ChangeOptions) => {
        const change = {
          url: url === undefined ? undefined : parse(webhookUrl, url),
          events: event && parse(webhookEvents, event),
          enabled: enable ? true : disable ? false : undefined,
        };
        return withServices(({ webhooks }) => webhooks.change(id, change, operator), writing);
      }),
    );

  webhook
    .command("remove <id>")
    .description("remove a webhook; what is queued is not sent")
    .action(
      write(
        ({ webhookId }: { webhookId: string }) => `${webhookId} is removed.`,
        async ({ webhooks }, id: string) => {
          await webhooks.remove(id, operator);
          return { webhookId: id, removed: true };
        },
      ),
    );

  webhook
    .command("rotate-secret <id>")
    .description("replace a webhook's secret; for a day messages are signed with both")
    .action(write(secretText, ({ webhooks }, id: string) => webhooks.rotateSecret(id, operator)));
};

const registerDeliveryCommands: Register = (webhook, { read, write }) => {
  webhook
    .command("test <id>")
    .description("queue a test message, which the running service sends")
    .action(write(queuedText, ({ webhooks }, id: string) => webhooks.test(id, operator)));

  webhook
    .command("deliveries <id>")
    .description("list a webhook's deliveries in progress and the last 500 that have ended, newest first")
    .action(
      read(deliveryTable, { webhooks: "all", deliveries: "all" }, ({ webhooks }, id: string) =>
        webhooks.deliveries(id),
      ),
    );
};

const webhookFields = ({
  webhookId,
  url,
  events,
  websiteId,
  apiKey,
  status,
  disabled,
  addedAt,
}: WebhookDetails) => ({
  webhook: webhookId,
  url,
  events: events.join(", "),
  website: websiteId,
  key: apiKey,
  state: disabled ? `${status} by the ${disabled.by} since ${disabled.since}` : status,
  added: addedAt,
});

const webhookText = (webhook: WebhookDetails): string => fields(webhookFields(webhook));

const newWebhookText = ({ secret, ...webhook }: NewWebhook): string =>
  fields({ ...webhookFields(webhook), secret: `${secret} (shown this once)` });

const secretText = ({ secret }: { secret: string }): string =>
  fields({ secret: `${secret} (shown this once)` });

const webhookTable = (all: readonly WebhookDetails[]): string =>
  table(
    ["webhook", "state", "url", "events"],
    all.map(({ webhookId, status, url, events }) => [webhookId, status, url, events.join(", ")]),
    "There is no webhook.",
  );

const queuedText = ({ messageId }: DeliveryDetails): string => `The message ${messageId} is queued.`;

const deliveryTable = (all: readonly DeliveryDetails[]): string =>
  table(
    ["message", "type", "state", "attempts", "last response", "next attempt"],
    all.map(({ messageId, type, status, attempts, nextAttemptAt = "" }) => {
      const last = attempts.at(-1);
      const result = last?.error ?? (last?.status === undefined ? "" : `HTTP ${last.status}`);
      return [messageId, type, status, String(attempts.length), result, nextAttemptAt];
    }),
    "There is no delivery.",
  );
