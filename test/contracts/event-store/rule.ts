import type { EventStore } from "../../../src/eventstore/event-store.ts";

/** A driver's setup for one rule. */
export interface EventStoreSetup {
  /** A store with an empty log. */
  readonly store: EventStore;
  /** Opens the same log again, like another process. */
  again(): Promise<EventStore>;
  /** Advances the store's clock. */
  advance(milliseconds: number): void;
  /** Closes and removes everything. */
  end(): Promise<void>;
}

/** Declares one rule of the port, which is tested on a new log. */
export type Rule = (title: string, holds: (setup: EventStoreSetup) => Promise<void>) => void;
