import { never } from "../never.ts";
import {
  anyObject,
  code,
  count,
  type EventOf,
  type MembersOf,
  object,
  optional,
  text,
  utcTime,
} from "../shape.ts";
import type { WebhookMessage } from "./message.ts";

const message = object({
  id: text,
  type: code<WebhookMessage["type"]>(),
  timestamp: utcTime,
  data: anyObject,
} satisfies MembersOf<WebhookMessage>);

/**
 * The delivery of one message to one webhook. Stream `delivery-{webhookId}-{messageId}`. Each
 * attempt is recorded before it is sent, so that only one instance sends it.
 */
export const deliveryShapes = {
  DeliveryQueued: { message, at: utcTime },
  DeliveryStarted: { attempt: count, at: utcTime },
  DeliverySucceeded: { attempt: count, status: count, at: utcTime },
  DeliveryFailed: {
    attempt: count,
    status: optional(count),
    error: text,
    /** The time of the next attempt. If it is absent, no attempt follows. */
    next: optional(utcTime),
    at: utcTime,
  },
};
export type DeliveryEvent = EventOf<typeof deliveryShapes>;

/** An attempt without an outcome is in progress, or its process was killed. */
export interface Attempt {
  readonly attempt: number;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly status?: number;
  readonly error?: string;
}

export type Delivery =
  | { readonly status: "absent" }
  | {
      readonly status: "pending" | "started" | "succeeded" | "failed";
      readonly message: WebhookMessage;
      readonly queuedAt: string;
      /** The time at which the next attempt may start; empty if there is none. */
      readonly dueAt: string;
      readonly attempts: readonly Attempt[];
    };

export type QueuedDelivery = Exclude<Delivery, { status: "absent" }>;

export const deliveryPrefix = "delivery-";

export const deliveryStream = (webhookId: string, messageId: string): string =>
  `${deliveryPrefix}${webhookId}-${messageId}`;

/** Ids of webhooks contain no hyphen. */
export const parseDeliveryStream = (stream: string): { webhookId: string; messageId: string } => {
  const name = stream.slice(deliveryPrefix.length);
  const end = name.indexOf("-");
  return { webhookId: name.slice(0, end), messageId: name.slice(end + 1) };
};

export const initialDelivery = (): Delivery => ({ status: "absent" });

export const evolveDelivery = (delivery: Delivery, event: DeliveryEvent): Delivery => {
  if (event.type === "DeliveryQueued") {
    const { message, at } = event.data;
    return { status: "pending", message, queuedAt: at, dueAt: at, attempts: [] };
  }
  if (delivery.status === "absent") return delivery;
  switch (event.type) {
    case "DeliveryStarted": {
      const { attempt, at } = event.data;
      const dueAt = new Date(Date.parse(at) + attemptTimeoutMs).toISOString();
      return {
        ...delivery,
        status: "started",
        dueAt,
        attempts: [...delivery.attempts, { attempt, startedAt: at }],
      };
    }
    case "DeliverySucceeded": {
      const { attempt, status, at } = event.data;
      return { ...withOutcome(delivery, attempt, { endedAt: at, status }), status: "succeeded", dueAt: "" };
    }
    case "DeliveryFailed": {
      const { attempt, status, error, next, at } = event.data;
      const failed = withOutcome(delivery, attempt, {
        endedAt: at,
        error,
        ...(status !== undefined && { status }),
      });
      return next === undefined
        ? { ...failed, status: "failed", dueAt: "" }
        : { ...failed, status: "pending", dueAt: next };
    }
    default:
      return never(event, delivery);
  }
};

export const deliveryDecider = { initial: initialDelivery, evolve: evolveDelivery };

/**
 * An attempt that has had no outcome for this long is repeated. No request takes this long, and
 * clocks differ by less.
 */
export const attemptTimeoutMs = 2 * 60_000;

/**
 * The delays before the second and later attempts, as Standard Webhooks recommends: about three
 * days in all.
 */
export const retryDelaysMs: readonly number[] = [
  5_000,
  ...[5, 30, 2 * 60, 5 * 60, 10 * 60, 14 * 60, 20 * 60, 24 * 60].map((minutes) => minutes * 60_000),
];

/** Returns no event if it is queued already. */
export const queueDelivery = (delivery: Delivery, message: WebhookMessage, at: string): DeliveryEvent[] =>
  delivery.status === "absent" ? [{ type: "DeliveryQueued", data: { message, at } }] : [];

/** Returns no event if no attempt is due: another process has started it. */
export const startAttempt = (delivery: Delivery, at: string): DeliveryEvent[] => {
  if (delivery.status !== "pending" && delivery.status !== "started") return [];
  if (Date.parse(delivery.dueAt) > Date.parse(at)) return [];
  return [{ type: "DeliveryStarted", data: { attempt: delivery.attempts.length + 1, at } }];
};

export interface AttemptOutcome {
  readonly attempt: number;
  readonly status?: number | undefined;
  /** Undefined after a success. */
  readonly error?: string | undefined;
  /** True if no further attempt may follow. */
  readonly isFinal?: boolean;
  readonly at: string;
  /** A number from 0 to 1, which lengthens the delay by up to a tenth. */
  readonly jitter: number;
}

/** Returns no event if a later attempt has started. */
export const finishAttempt = (delivery: Delivery, outcome: AttemptOutcome): DeliveryEvent[] => {
  const { attempt, status, error, isFinal = false, at, jitter } = outcome;
  if (delivery.status !== "started" || delivery.attempts.length !== attempt) return [];
  if (error === undefined)
    return [{ type: "DeliverySucceeded", data: { attempt, status: status ?? 200, at } }];
  const delayMs = isFinal ? undefined : retryDelaysMs[attempt - 1];
  const next = delayMs && new Date(Date.parse(at) + Math.round(delayMs * (1 + jitter / 10))).toISOString();
  return [
    {
      type: "DeliveryFailed",
      data: { attempt, ...(status !== undefined && { status }), error, ...(next && { next }), at },
    },
  ];
};

const withOutcome = (
  delivery: QueuedDelivery,
  attempt: number,
  outcome: Partial<Attempt>,
): QueuedDelivery => ({
  ...delivery,
  attempts: delivery.attempts.map((one) => (one.attempt === attempt ? { ...one, ...outcome } : one)),
});
