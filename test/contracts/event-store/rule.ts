import type { EventStore } from "../../../src/eventstore/event-store.ts";

/** What a driver gives: a store over an empty log, further clients of the same log, and its end. */
export interface EventStoreSetup {
  readonly store: EventStore;
  /** Opens the same log once more, as another process would. */
  again(): Promise<EventStore>;
  /** Lets the store's clock run on. */
  advance(milliseconds: number): void;
  /** Closes and removes everything. */
  end(): Promise<void>;
}

/** Declares one rule of the port, which gets a log of its own. */
export type Rule = (title: string, holds: (setup: EventStoreSetup) => Promise<void>) => void;
