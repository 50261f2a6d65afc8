import { EventStoreUnavailable } from "./event-store.ts";

const maxEvents = 100_000;
const maxCharacters = 64 * 1024 * 1024;

/** Bounds what waits to be written, so that a stuck disk costs refusals and not the process's memory. */
export const createAppendBudget = () => {
  let events = 0;
  let characters = 0;
  return {
    /** Answers how to leave again. @throws {EventStoreUnavailable} when too much is waiting already. */
    enter(count: number, size: number): () => void {
      if (events + count > maxEvents || characters + size > maxCharacters) {
        throw new EventStoreUnavailable("the event store is busy: too many appends are waiting");
      }
      events += count;
      characters += size;
      return () => {
        events -= count;
        characters -= size;
      };
    },
  };
};
