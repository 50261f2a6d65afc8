import { z } from "zod";
import type {
  DeliveryDetails,
  NewWebhook,
  WebhookDetails,
  WebhooksService,
} from "../../../application/webhooks/webhooks.ts";
import { webhookEventTypes } from "../../../domain/webhooks/message.ts";
import { webhookEvents, webhookUrl } from "../../../domain/webhooks/webhooks.ts";
import { noStore } from "../../caching/cache-control.ts";
import { location } from "../../kernel/headers.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { json, jsonRequest, pathParams, resourceName } from "../../kernel/operation.ts";
import { adminOperationOf, count, created, listed, noContent, ok, time } from "./admin-operation.ts";
import { pageMembers, pageOf, pageQuery } from "./paging.ts";

const webhookMembers = {
  webhookId: z.string(),
  url: z.string(),
  events: z.array(z.enum(webhookEventTypes)),
  websiteId: z.string().exactOptional(),
  apiKey: z.string().exactOptional(),
  status: z.enum(["enabled", "disabled"]),
  disabled: z
    .object({ by: z.enum(["operator", "receiver", "restore"]), since: time })
    .exactOptional()
    .meta({ description: "`receiver`: it has responded with 410 Gone." }),
  addedAt: time,
};

const secret = z.string().meta({
  description: "Signs the messages as Standard Webhooks specifies. Shown only in this response.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
});

const webhookDetails = namedSchema("Webhook", webhookMembers) satisfies z.ZodType<WebhookDetails>;
const newWebhook = namedSchema("NewWebhook", { ...webhookMembers, secret }) satisfies z.ZodType<NewWebhook>;

const attempt = z.object({
  attempt: z.int().min(1),
  startedAt: time,
  endedAt: time
    .exactOptional()
    .meta({ description: "Absent while it is in progress, or if its process was killed." }),
  status: z.int().exactOptional().meta({ description: "The status of the response." }),
  error: z.string().exactOptional(),
});

const delivery = namedSchema("WebhookDelivery", {
  messageId: z.string().meta({ description: "The `webhook-id` of its requests." }),
  type: z.string(),
  status: z.enum(["pending", "succeeded", "failed"]),
  queuedAt: time,
  nextAttemptAt: time.exactOptional(),
  attempts: z.array(attempt),
  data: z.record(z.string(), z.unknown()),
}) satisfies z.ZodType<DeliveryDetails>;

const url = webhookUrl.meta({
  description:
    "https; http only to this machine, if `ALLOW_LOOPBACK_UPSTREAMS` is set; private networks only if `ALLOW_UPSTREAM_NETWORKS` names them. Redirects are not followed.",
  examples: ["https://example.com/hooks/voxledger"],
});
const events = webhookEvents.meta({ description: "The types of events that it receives." });
const filter = z.string().min(1).max(200).optional();
const addition = z.strictObject({
  url,
  events: webhookEvents.default([...webhookEventTypes]),
  websiteId: filter.meta({ description: "Only events of this website's keys." }),
  apiKey: filter.meta({ description: "Only events of this key." }),
});
const change = z.strictObject({
  url: url.optional(),
  events: events.optional(),
  enabled: z
    .boolean()
    .optional()
    .meta({ description: "false: nothing is queued, and what is queued waits." }),
});

const webhookId = resourceName("A webhook's id.", "whk_0b9Zk2fX7Qm4sT1uVwYzAc");
const params = pathParams({ id: webhookId });

const webhookOperation = adminOperationOf<{ webhooks: WebhooksService }>();

/** `/admin/webhooks`: where messages about keys are sent, and whether they arrived. */
export const webhookOperations = [
  webhookOperation({
    method: "post",
    path: "/admin/webhooks",
    id: "addWebhook",
    summary: "Add a webhook",
    description:
      "Messages are signed as Standard Webhooks 1.0 specifies and sent at least once: a message that gets no 2xx response within 15 seconds is repeated up to nine times within about three days. 410 disables the webhook.",
    cache: [noStore],
    body: jsonRequest(addition, {
      url: "https://example.com/hooks/voxledger",
      events: ["quota.threshold_crossed"],
    }),
    responses: created("The webhook. The secret is shown only in this response.", newWebhook, location),
    errors: [404, 409],
    handle: async ({ webhooks }, { body }, command, ctx) => {
      const webhook = await webhooks.add(body, command);
      ctx.set("Location", `/admin/webhooks/${webhook.webhookId}`);
      return webhook;
    },
  }),
  webhookOperation({
    method: "get",
    path: "/admin/webhooks",
    id: "listWebhooks",
    summary: "List the webhooks, oldest first",
    responses: ok("The webhooks.", z.object({ webhooks: z.array(webhookDetails), count })),
    handle: ({ webhooks }) => listed("webhooks", webhooks.list()),
  }),
  webhookOperation({
    method: "get",
    path: "/admin/webhooks/{id}",
    id: "showWebhook",
    summary: "Show a webhook",
    params,
    responses: ok("The webhook.", webhookDetails),
    handle: ({ webhooks }, { params }) => webhooks.get(params.id),
  }),
  webhookOperation({
    method: "patch",
    path: "/admin/webhooks/{id}",
    id: "changeWebhook",
    summary: "Change a webhook's address or events, disable or enable it",
    params,
    body: jsonRequest(change, { enabled: false }),
    responses: ok("The changed webhook.", webhookDetails),
    handle: ({ webhooks }, { params, body }, command) => webhooks.change(params.id, body, command),
  }),
  webhookOperation({
    method: "delete",
    path: "/admin/webhooks/{id}",
    id: "removeWebhook",
    summary: "Remove a webhook; what is queued is not sent",
    params,
    responses: noContent("The webhook is removed."),
    errors: [503],
    handle: ({ webhooks }, { params }, command) => webhooks.remove(params.id, command),
  }),
  webhookOperation({
    method: "post",
    path: "/admin/webhooks/{id}/secrets",
    id: "rotateWebhookSecret",
    summary: "Replace a webhook's secret; for a day messages are signed with both",
    cache: [noStore],
    params,
    responses: created("The new secret, shown only in this response.", z.object({ secret })),
    errors: [503],
    handle: ({ webhooks }, { params }, command) => webhooks.rotateSecret(params.id, command),
  }),
  webhookOperation({
    method: "post",
    path: "/admin/webhooks/{id}/test",
    id: "testWebhook",
    summary: "Queue a message of type webhook.test",
    params,
    responses: { 202: { description: "The message is queued.", content: json(delivery) } },
    errors: [503],
    handle: ({ webhooks }, { params }, command) => webhooks.test(params.id, command),
  }),
  webhookOperation({
    method: "get",
    path: "/admin/webhooks/{id}/deliveries",
    id: "listWebhookDeliveries",
    summary: "List a webhook's deliveries with their attempts, newest first",
    description: "Those in progress, and the last 500 that have ended.",
    params,
    query: pageQuery,
    responses: ok("The deliveries.", z.object({ deliveries: z.array(delivery), ...pageMembers })),
    handle: ({ webhooks }, { params, query }) => {
      const { entries, _links } = pageOf(query, webhooks.deliveries(params.id), ({ messageId }) => messageId);
      return { deliveries: entries, count: entries.length, _links };
    },
  }),
];
