import { createVoiding, type Voiding, type VoidingOptions } from "../../src/application/usage/voiding.ts";
import type { SynthesisServed, UsageEvent } from "../../src/domain/usage/usage.ts";
import { voidingDecider, voidServings } from "../../src/domain/usage/voiding.ts";
import { createCommandHandler } from "../../src/eventstore/command-handler.ts";
import type { EventStore } from "../../src/eventstore/event-store.ts";

/** Voids servings in the store; a reported error fails the test. */
export const openVoiding = (
  store: EventStore,
  clock: () => number,
  options: Partial<VoidingOptions> = {},
): Voiding =>
  createVoiding({
    openHandler: (given) => createCommandHandler({ store, clock, ...given }),
    clock,
    onError: (what, error) => Promise.reject(new Error(what, { cause: error })),
    ...options,
  });

/** The event that voids the serving; without a serving, the tombstone of the request. */
export const voidOf = (
  serving: SynthesisServed | undefined,
  at: string,
  requestId = "unknown",
): UsageEvent[] => {
  const requestIds = new Set([serving?.requestId ?? requestId]);
  const { initial, evolve } = voidingDecider(requestIds);
  const state = serving ? evolve(initial(), { type: "SynthesisServed", data: serving }) : initial();
  return voidServings(state, requestIds, at);
};
