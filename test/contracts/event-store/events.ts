import { expect } from "chai";
import type {
  EventBatch,
  EventStore,
  NewEvent,
  ReadOptions,
  RecordedEvent,
  SubscribeOptions,
} from "../../../src/eventstore/event-store.ts";
import { WrongExpectedRevision } from "../../../src/eventstore/event-store.ts";
import { uuidv7 } from "../../../src/eventstore/uuid.ts";
import { collect } from "../../support/collect.ts";
import { rejection } from "../../support/rejection.ts";

export const event = (data: object = {}): NewEvent => ({
  id: uuidv7(Date.now()),
  type: "SomethingHappened",
  data,
  metadata: { correlationId: "a-request", actor: "system" },
});

export const eventsOf = (count: number): NewEvent[] => Array.from({ length: count }, (_, n) => event({ n }));

/**
 * The number of events of a log that no driver reads in one page or batch: these have at most 2,048
 * events.
 */
export const longLog = 5_345;

/** Appends events in batches of at most a thousand. */
export const fill = async (store: EventStore, stream: string, count: number): Promise<void> => {
  for (let left = count; left > 0; left -= 1000) {
    await store.append(stream, eventsOf(Math.min(1000, left)), "any");
  }
};

export const read = async (
  store: EventStore,
  stream: string,
  options?: ReadOptions,
): Promise<RecordedEvent[]> => await collect(store.readStream(stream, options));

export const revisions = (events: readonly RecordedEvent[]): number[] =>
  events.map(({ revision }) => revision);
export const ids = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);

/** The batches up to the first that fulfils the condition. */
export const batchesUntil = async (
  store: EventStore,
  options: SubscribeOptions,
  isLast: (batch: EventBatch) => boolean,
): Promise<EventBatch[]> => {
  const batches: EventBatch[] = [];
  for await (const batch of store.subscribe(options)) {
    batches.push(batch);
    if (isLast(batch)) return batches;
  }
  throw new Error("the subscription ended");
};

/** The events that a subscription delivers until it has caught up. */
export const readLog = async (store: EventStore, options: SubscribeOptions = {}): Promise<RecordedEvent[]> =>
  (await batchesUntil(store, options, ({ caughtUp }) => caughtUp)).flatMap(({ events }) => events);

/** The error of an action that must fail. */
export const rejectionOf = (action: () => Promise<unknown>): Promise<unknown> =>
  rejection(Promise.resolve().then(action));

export const expectConflict = async (append: Promise<unknown>, actual: number): Promise<void> => {
  const error = await rejectionOf(() => append);
  expect(error).to.be.instanceOf(WrongExpectedRevision);
  expect((error as WrongExpectedRevision).actual).to.equal(actual);
};
