import { createVoiding, type Voiding, type VoidingOptions } from "../../src/application/voiding.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";

/** Voids servings in the store; what it reports as trouble fails the test. */
export const openVoiding = (
  store: EventStore,
  clock: () => number,
  options: Partial<VoidingOptions> = {},
): Voiding =>
  createVoiding({
    openHandler: (given) => createCommandHandler({ store, clock, ...given }),
    clock,
    onTrouble: (what, error) => Promise.reject(new Error(what, { cause: error })),
    ...options,
  });
