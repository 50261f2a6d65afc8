import type { EventStore } from "../../src/eventstore/event-store.ts";

export interface SubscriptionCounter extends EventStore {
  /** Subscriptions that are open. */
  readonly open: number;
  /** Events that were told to subscribers. */
  readonly delivered: number;
  /** Resolves when no subscription is open any more. */
  allEnded(): Promise<void>;
}

/** The store itself, with an eye on its subscriptions. */
export const countSubscriptions = (store: EventStore): SubscriptionCounter => {
  let open = 0;
  let told = 0;
  const waiting: (() => void)[] = [];
  return {
    ...store,
    async *subscribe(options) {
      open++;
      try {
        for await (const batch of store.subscribe(options)) {
          told += batch.events.length;
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
      return told;
    },
    allEnded: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
};
