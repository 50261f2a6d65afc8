import type { SynthesisServed, UsageEvent, VoidedEvent } from "./usage.ts";

/** What a usage stream says of some requests that got no audio. */
export interface Voiding {
  /** Their servings and the repeats of these, in the stream's order. */
  readonly servings: readonly VoidableServing[];
  /** The requests that are settled already. */
  readonly voided: ReadonlySet<string>;
}

interface VoidableServing {
  readonly data: SynthesisServed;
  /** The characters that it bears, its own or those that were passed to it. */
  readonly charge: number;
}

export const initialVoiding: Voiding = { servings: [], voided: new Set() };

/** Folds what concerns the given requests, and nothing else: its size does not depend on the stream's length. */
export const voidingDecider = (requestIds: ReadonlySet<string>) => ({
  initial: (): Voiding => initialVoiding,
  evolve: (state: Voiding, event: UsageEvent): Voiding => {
    switch (event.type) {
      case "SynthesisServed": {
        const { data } = event;
        const concerns =
          requestIds.has(data.requestId) || state.servings.some((one) => isRepeatOf(data, one));
        return concerns
          ? { ...state, servings: [...state.servings, { data, charge: data.characters }] }
          : state;
      }
      case "ServingVoided": {
        const { requestId, passed } = event.data;
        const servings = state.servings.map((one) =>
          one.data.requestId === passed?.to ? { ...one, charge: one.charge + passed.characters } : one,
        );
        return { servings, voided: new Set(state.voided).add(requestId) };
      }
      default:
        return state;
    }
  },
});

const isRepeatOf = ({ repeat, idempotency }: SynthesisServed, { data }: VoidableServing): boolean =>
  repeat === true && idempotency?.key === data.idempotency?.key;

/**
 * Takes back what the stream holds of the requests. An append that was given up may still land, but it names the revision
 * that it expects: as soon as another event has that revision's successor, it can only be refused. So every decision
 * about an unsettled request appends something. When no serving is found, one event without a serving is this fence.
 */
export const voidServings = (before: Voiding, requestIds: ReadonlySet<string>, at: string): VoidedEvent[] => {
  const { evolve } = voidingDecider(requestIds);
  const open = [...requestIds].filter((requestId) => !before.voided.has(requestId));
  const voids: VoidedEvent[] = [];
  let state = before;
  for (const requestId of open) {
    const voided = voidServing(state, requestId, at);
    if (!voided) continue;
    state = evolve(state, voided);
    voids.push(voided);
  }
  const [first] = open;
  if (voids.length > 0 || first === undefined) return voids;
  return [{ type: "ServingVoided", data: { requestId: first, characters: 0, at } }];
};

/** The next repeat that stands bears the charge instead: its caller got the audio, or it is voided in its turn. */
const voidServing = (
  { servings, voided }: Voiding,
  requestId: string,
  at: string,
): VoidedEvent | undefined => {
  const index = servings.findIndex(({ data }) => data.requestId === requestId);
  const one = servings[index];
  if (!one) return undefined;
  const { hash, engine, voice, at: servedAt, idempotency } = one.data;
  const next = servings
    .slice(index + 1)
    .find((later) => isRepeatOf(later.data, one) && !voided.has(later.data.requestId));
  const serving = { hash, engine, voice, at: servedAt, ...(idempotency && { idempotency }) };
  const charge = next
    ? { characters: 0, passed: { to: next.data.requestId, characters: one.charge } }
    : { characters: one.charge };
  return { type: "ServingVoided", data: { requestId, ...charge, serving, at } };
};
