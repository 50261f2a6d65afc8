import { expect } from "chai";
import { EventStoreUnavailable } from "../../src/eventstore/event-store.ts";
import { rejectionOf } from "../contracts/event-store/events.ts";

export const expectUnavailable = async (action: () => Promise<unknown>): Promise<void> => {
  expect(await rejectionOf(action)).to.be.instanceOf(EventStoreUnavailable);
};

/**
 * Repeats the action while the store is unavailable, with the same ids, as the command handler
 * does.
 */
export const retryWhileUnavailable = async <T>(action: () => Promise<T>): Promise<T> => {
  for (let left = 50; ; left--) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable) || left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
};
