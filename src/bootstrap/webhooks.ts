import { deliveries } from "../../projections/deliveries.ts";
import { keys } from "../../projections/keys.ts";
import { suspensions } from "../../projections/suspensions.ts";
import { webhooks } from "../../projections/webhooks.ts";
import { untilVisible } from "../application/execute-command.ts";
import { WebhookDispatcher } from "../application/webhooks/dispatcher.ts";
import { backgroundTime } from "../async/time.ts";
import type { Core, Runtime } from "./core.ts";
import { openPostWebhook } from "./website-servers.ts";

/** Delivers messages to webhooks until shutdown. */
export const composeWebhooks = (
  { settings, log, clock, telemetry, resources, onError }: Runtime,
  { handler, runner, cipher }: Core,
): WebhookDispatcher => {
  const dispatcher = new WebhookDispatcher({
    handler,
    webhooks: runner.view(webhooks),
    deliveries: runner.view(deliveries),
    suspensions: runner.view(suspensions),
    keys: runner.view(keys),
    untilVisible: (position) => untilVisible(runner, position),
    cipher,
    post: openPostWebhook(settings.upstreamNetworks, log),
    clock,
    time: backgroundTime,
    random: Math.random,
    onOutcome: telemetry.webhook,
    onError,
  });
  resources.defer(dispatcher.close);
  return dispatcher;
};
