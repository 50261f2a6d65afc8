import type { SynthesisServed, UsageEvent, VoidedEvent } from "./usage.ts";

/** The servings in a usage stream of some requests without audio. */
export interface Voiding {
  /** Their servings and repeats of these, in stream order. */
  readonly servings: readonly VoidableServing[];
  /** The requests that are already voided. */
  readonly voided: ReadonlySet<string>;
}

interface VoidableServing {
  readonly data: SynthesisServed;
  /** Its charged characters, including those passed to it. */
  readonly charge: number;
}

export const initialVoiding: Voiding = { servings: [], voided: new Set() };

/** Folds only the events of the given requests: the state's size does not depend on the stream's length. */
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
 * Voids the servings of the requests. An abandoned append may still be stored, but only at its expected revision: after any
 * other append it is refused. Therefore every decision about a pending request appends an event. If no serving is found,
 * one event without a serving serves as this fence.
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

/** The next repeat that is not voided is charged instead: its caller received the audio, or it is voided later. */
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
