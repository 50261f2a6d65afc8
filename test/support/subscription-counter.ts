import type { EventStore } from "../../src/eventstore/event-store.ts";

export interface SubscriptionCounter extends EventStore {
  /** Open subscriptions. */
  readonly open: number;
  /** Events delivered to subscribers. */
  readonly delivered: number;
  /** Resolves when no subscription is open. */
  allEnded(): Promise<void>;
}

/** Counts the store's subscriptions and the events that they deliver. */
export const countSubscriptions = (store: EventStore): SubscriptionCounter => {
  let open = 0;
  let delivered = 0;
  const waiting: (() => void)[] = [];
  return {
    ...store,
    async *subscribe(options) {
      open++;
      try {
        for await (const batch of store.subscribe(options)) {
          delivered += batch.events.length;
          yield batch;
        }
      } finally {
        open--;
        if (open === 0) for (const ended of waiting.splice(0)) ended();
      }
    },
    get open() {
      return open;
    },
    get delivered() {
      return delivered;
    },
    allEnded: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
