import type { EventMetadata, EventStore, NewEvent } from "./event-store.ts";
import { uuidv7 } from "./uuid.ts";

/** How a stream's state comes from its events. `evolve` never judges and never changes what it is given. */
export interface Decider<S, E> {
  initial(): S;
  evolve(state: S, event: E): S;
}

export interface Outcome<S, E> {
  /** What this command added: nothing, if there was nothing to decide. */
  readonly events: readonly E[];
  /** The stream's state right after this command. */
  readonly state: S;
  /** Views that have reached this position of the log show this outcome; -1 for a stream without events. */
  readonly position: number;
}

export interface DomainEvent {
  readonly type: string;
  readonly data: object;
}

/** What a stream's events, up to a revision, come to. Replaced, never changed. */
export interface StreamSnapshot<S = unknown> {
  readonly state: S;
  /** The last revision in it, -1 before the first. */
  readonly revision: number;
  /** The last event's position in the log, -1 before the first. */
  readonly position: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a lane holds whatever its stream's decider folds
export type Any = any;

export interface Command {
  readonly lane: Lane;
  readonly decide: (state: Any) => readonly DomainEvent[];
  readonly metadata: EventMetadata;
  readonly resolve: (outcome: Outcome<Any, Any>) => void;
  readonly reject: (error: unknown) => void;
}

/** Commands that are decided together. It is over when the last of them has been given up. */
export interface Batch {
  readonly commands: readonly Command[];
  readonly giveUp: (error: unknown) => void;
  /** Never resolves. */
  readonly over: Promise<never>;
  readonly isOver: boolean;
  /** An append of its decisions was sent, and the store has not refused it. */
  isSent: boolean;
}

/** A stream's warm state and the commands that wait for it. */
export interface Lane {
  readonly stream: string;
  readonly decider: Decider<Any, Any>;
  readonly queue: Command[];
  head: StreamSnapshot<Any> | undefined;
  /** The log may hold what the head does not. */
  stale: boolean;
  busy: boolean;
  batch: Batch | undefined;
  /** Why the store gave no answer the last time that it gave none. */
  trouble: unknown;
}

/** A command's decision on the state that the ones before it in the batch lead to. */
export type Decision =
  | { readonly command: Command; readonly events: readonly DomainEvent[]; readonly state: Any }
  | { readonly command: Command; readonly refusal: unknown };

export const newLane = (stream: string, decider: Decider<Any, Any>): Lane => ({
  stream,
  decider,
  queue: [],
  head: undefined,
  stale: true,
  busy: false,
  batch: undefined,
  trouble: undefined,
});

export const newBatch = (commands: readonly Command[]): Batch => {
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => {}); // nobody may be waiting for it just then
  const batch = {
    commands,
    over,
    isOver: false,
    isSent: false,
    giveUp: (error: unknown) => {
      batch.isOver = true;
      reject(error);
    },
  };
  return batch;
};

/** Folds what the log holds beyond the head; stops early, with what is of no use, once nobody waits for it. */
export const readBeyond = async (
  store: EventStore,
  { stream, decider }: Lane,
  head: StreamSnapshot<Any>,
  batch: Batch,
): Promise<StreamSnapshot<Any>> => {
  let { state, revision, position } = head;
  for await (const event of store.readStream(stream, { from: revision + 1 })) {
    if (batch.isOver) break;
    state = decider.evolve(state, event);
    revision = event.revision;
    position = event.position;
  }
  return revision === head.revision ? head : { state, revision, position };
};

export const decideAll = (
  { state: first }: StreamSnapshot<Any>,
  decider: Decider<Any, Any>,
  commands: readonly Command[],
): Decision[] => {
  let state = first;
  return commands.map((command): Decision => {
    try {
      const events = command.decide(state);
      for (const event of events) state = decider.evolve(state, event);
      return { command, events, state };
    } catch (refusal) {
      return { command, refusal };
    }
  });
};

/** The state that the decisions lead to. */
export const stateAfter = (decisions: readonly Decision[], before: Any): Any => {
  let state = before;
  for (const decision of decisions) if (!("refusal" in decision)) state = decision.state;
  return state;
};

export const newEvents = (decisions: readonly Decision[], now: number): NewEvent[] =>
  decisions.flatMap((decision) =>
    "refusal" in decision
      ? []
      : decision.events.map(({ type, data }) => ({
          id: uuidv7(now),
          type,
          data,
          metadata: decision.command.metadata,
        })),
  );
