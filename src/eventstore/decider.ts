import type { EventMetadata, NewEvent } from "./event-store.ts";
import { uuidv7 } from "./uuid.ts";

/**
 * Computes a stream's state from its events. `evolve` never validates and never changes its
 * arguments.
 */
export interface Decider<S, E> {
  initial(): S;
  evolve(state: S, event: E): S;
}

export interface DomainEvent {
  /** A UUID. Default: a new one. */
  readonly id?: string;
  readonly type: string;
  readonly data: object;
}

/** A stream's folded state as of a revision. Immutable. */
export interface StreamSnapshot<S = unknown> {
  readonly state: S;
  /** The last folded revision, -1 before the first event. */
  readonly revision: number;
  /** The position of the last folded event, -1 before the first event. */
  readonly position: number;
}

// biome-ignore lint/suspicious/noExplicitAny: queues hold the states and events of every decider
export type Any = any;

/** Says what a command does, and for whom. `decide` returns new events, or throws to refuse. */
export interface DecisionRequest {
  readonly decide: (state: Any) => readonly DomainEvent[];
  readonly metadata: EventMetadata;
}

export type Decision<C> =
  | { readonly command: C; readonly events: readonly DomainEvent[]; readonly state: Any }
  | { readonly command: C; readonly refusal: unknown };

/** Decides the commands in order, each on the state that the commands before it lead to. */
export const decideBatch = <C extends DecisionRequest>(
  decider: Decider<Any, Any>,
  initialState: Any,
  commands: readonly C[],
  now: number,
): { decisions: Decision<C>[]; events: NewEvent[]; state: Any } => {
  const decisions: Decision<C>[] = [];
  const events: NewEvent[] = [];
  let state = initialState;
  for (const command of commands) {
    try {
      const decided = command.decide(state);
      let next = state;
      for (const event of decided) next = decider.evolve(next, event);
      for (const { id = uuidv7(now), type, data } of decided) {
        events.push({ id, type, data, metadata: command.metadata });
      }
      state = next;
      decisions.push({ command, events: decided, state });
    } catch (refusal) {
      decisions.push({ command, refusal });
    }
  }
  return { decisions, events, state };
};
