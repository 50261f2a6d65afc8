import { EventStoreUnavailable } from "./event-store.ts";

const maxEvents = 100_000;
const maxSize = 64 * 1024 * 1024;

/** Limits the appends in progress, so that a stalled disk or server cannot exhaust the memory. */
export const createAppendBudget = () => {
  let totalEvents = 0;
  let totalSize = 0;
  /** @throws {EventStoreUnavailable} if this append would exceed the limit */
  return async <T>(events: number, size: number, append: () => Promise<T>): Promise<T> => {
    if (totalEvents + events > maxEvents || totalSize + size > maxSize) {
      throw new EventStoreUnavailable("the event store is busy: too many appends are waiting");
    }
    totalEvents += events;
    totalSize += size;
    try {
      return await append();
    } finally {
      totalEvents -= events;
      totalSize -= size;
    }
  };
};
