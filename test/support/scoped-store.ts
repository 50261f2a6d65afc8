import type { EventStore } from "../../src/eventstore/event-store.ts";
import { prefixedEventStore } from "../../src/eventstore/prefixed-event-store.ts";

/**
 * An installation's part of a shared log. By default, its subscriptions start after the position
 * `beginning`.
 */
export const scopedStore = (store: EventStore, prefix: string, beginning: number): EventStore => {
  const scoped = prefixedEventStore(store, prefix);
  return { ...scoped, subscribe: (options) => scoped.subscribe({ fromExclusive: beginning, ...options }) };
};
