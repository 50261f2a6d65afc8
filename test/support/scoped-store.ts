import type { EventStore } from "../../src/eventstore/event-store.ts";
import { prefixedEventStore } from "../../src/eventstore/prefixed-event-store.ts";

/**
 * An installation's part of a shared log. Its subscriptions start after the position by default.
 */
export const scopedStore = (store: EventStore, prefix: string, beginning: number): EventStore => {
  const scoped = prefixedEventStore(store, prefix);
  return { ...scoped, subscribe: (options) => scoped.subscribe({ fromExclusive: beginning, ...options }) };
};
