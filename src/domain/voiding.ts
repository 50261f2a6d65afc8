import type { SynthesisServed, UsageEvent, VoidedEvent } from "./usage.ts";

/** What a usage stream says of some requests that got no audio. */
export interface Voiding {
  /** Their servings, by request id. */
  readonly served: ReadonlyMap<string, SynthesisServed>;
  /** The requests that are settled already. */
  readonly voided: ReadonlySet<string>;
}

/** Folds what concerns the given requests, and nothing else: its size does not depend on the stream's length. */
export const voidingDecider = (requestIds: ReadonlySet<string>) => ({
  initial: (): Voiding => ({ served: new Map(), voided: new Set() }),
  evolve: (state: Voiding, event: UsageEvent): Voiding => {
    const { requestId } = event.data;
    if (!requestIds.has(requestId)) return state;
    switch (event.type) {
      case "SynthesisServed":
        return { ...state, served: new Map(state.served).set(requestId, event.data) };
      case "ServingVoided":
        return { ...state, voided: new Set(state.voided).add(requestId) };
      default:
        return state;
    }
  },
});

/**
 * Takes back what the stream holds of the requests. An append that was given up may still land, but it names the revision
 * that it expects: as soon as another event has that revision's successor, it can only be refused. So every decision
 * about an unsettled request appends something. When no serving is found, one event without a serving is this fence.
 */
export const voidServings = (
  { served, voided }: Voiding,
  requestIds: Iterable<string>,
  at: string,
): VoidedEvent[] => {
  const open = [...requestIds].filter((requestId) => !voided.has(requestId));
  const voids = open.flatMap((requestId) => {
    const serving = served.get(requestId);
    return serving ? [voidedEvent(serving, at)] : [];
  });
  const [first] = open;
  if (voids.length > 0 || first === undefined) return voids;
  return [{ type: "ServingVoided", data: { requestId: first, characters: 0, at } }];
};

const voidedEvent = (
  { requestId, characters, hash, engine, voice, at: servedAt }: SynthesisServed,
  at: string,
): VoidedEvent => ({
  type: "ServingVoided",
  data: { requestId, characters, serving: { hash, engine, voice, at: servedAt }, at },
});
