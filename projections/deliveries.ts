import {
  type Delivery,
  type DeliveryEvent,
  deliveryPrefix,
  evolveDelivery,
  initialDelivery,
  parseDeliveryStream,
  type QueuedDelivery,
} from "../src/domain/webhooks/delivery.ts";
import { webhooksStream } from "../src/domain/webhooks/webhooks.ts";
import type { Projection } from "./projection.ts";

/** The deliveries to one webhook. */
export interface Deliveries {
  readonly isRemoved: boolean;
  /**
   * The deliveries that are not finished and the last finished ones, by message id, in the order in
   * which they were queued.
   */
  readonly byId: Readonly<Record<string, Delivery>>;
  /** The message ids of the finished deliveries in `byId`, in the order in which they ended. */
  readonly finished: readonly string[];
}

/** This bounds the deliveries that are shown, and the memory of each instance. */
const maxFinished = 500;

/** The partition is the webhook's id. */
export const deliveries: Projection<Deliveries> = {
  name: "deliveries",
  version: 1,
  prefixes: [deliveryPrefix, webhooksStream],
  partition: ({ stream, type, data }) => {
    if (stream !== webhooksStream) return parseDeliveryStream(stream).webhookId;
    return type === "WebhookRemoved" ? (data as { webhookId: string }).webhookId : undefined;
  },
  initial: () => ({ isRemoved: false, byId: {}, finished: [] }),
  apply: (state, { stream, type, data }) => {
    if (stream === webhooksStream || state.isRemoved) return { isRemoved: true, byId: {}, finished: [] };
    const { messageId } = parseDeliveryStream(stream);
    const known = Object.hasOwn(state.byId, messageId) ? state.byId[messageId] : undefined;
    const was = known ?? initialDelivery();
    const delivery = evolveDelivery(was, { type, data } as DeliveryEvent);
    if (delivery === was) return state;
    // The index is changed in place, because copying a large index for each event takes long.
    const byId = state.byId as Record<string, Delivery>;
    const finished = state.finished as string[];
    byId[messageId] = delivery;
    if (isFinished(delivery)) finished.push(messageId);
    if (finished.length > maxFinished) delete byId[finished.shift() as string];
    return state;
  },
};

const isFinished = ({ status }: Delivery): boolean => status === "succeeded" || status === "failed";

export const queuedIn = ({ byId }: Deliveries): [messageId: string, QueuedDelivery][] =>
  Object.entries(byId).flatMap(([id, delivery]) => (delivery.status === "absent" ? [] : [[id, delivery]]));

/** The number of deliveries that are not finished. */
export const unfinishedIn = ({ byId, finished }: Deliveries): number =>
  Object.keys(byId).length - finished.length;

/**
 * The ids of the messages that may be sent now, in the order in which they were queued.
 * `now`: ISO 8601, UTC.
 */
export const dueIn = (deliveries: Deliveries, now: string): string[] =>
  Object.keys(deliveries.byId).filter((messageId) => isDue(deliveries, messageId, now));

export const isDue = ({ byId }: Deliveries, messageId: string, now: string): boolean => {
  const delivery = byId[messageId];
  return (
    delivery !== undefined && delivery.status !== "absent" && delivery.dueAt !== "" && delivery.dueAt <= now
  );
};
