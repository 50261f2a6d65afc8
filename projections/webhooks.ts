import { type Webhooks, webhooksDecider, webhooksStream } from "../src/domain/webhooks/webhooks.ts";
import { streamProjection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** All webhooks, in one partition: the stream `webhooks`. */
export const webhooks = streamProjection("webhooks", 2, webhooksStream, webhooksDecider);

export const allWebhooks = (view: View<Webhooks>): Webhooks => view.get(webhooksStream) ?? {};
