import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { Unavailable } from "../domain/errors.ts";
import {
  type EventMetadata,
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  WrongExpectedRevision,
} from "./event-store.ts";
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

/** The one way to write: load, fold, decide, append as expected; on a conflict fold what is new and decide again. */
export interface CommandHandler {
  /**
   * Decides on the stream's state and makes the decision durable. `decide` is pure: it may run more than once. Commands
   * for one stream that meet are decided one after the other and appended as one batch; nothing is told to anyone,
   * not even a refusal, before all that it rests on is in the log.
   * @throws whatever `decide` throws
   * @throws {Unavailable} when the event store gave no outcome in time, or too many commands wait
   */
  execute<S, E extends DomainEvent>(
    decider: Decider<S, E>,
    stream: string,
    decide: (state: S) => readonly E[],
    metadata: EventMetadata,
  ): Promise<Outcome<S, E>>;
  /** Commands that wait for their outcome. */
  readonly pending: number;
  /** Resolves when no command waits any more. */
  drain(): Promise<void>;
}

export interface CommandHandlerOptions {
  readonly store: EventStore;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Streams whose folded state is kept in memory. Default 10,000. */
  readonly warmStreams?: number;
  /** Commands that may wait at once. Default 10,000. */
  readonly maxPending?: number;
  /** How long a command waits for the event store before it is given up. Default 5,000. */
  readonly deadlineMs?: number;
}

/** At most so many commands are appended at once: well below what one append may weigh. */
const maxBatch = 256;
const retryDelayMs = { first: 10, most: 500 };
const retryAfterSeconds = 2;

// biome-ignore lint/suspicious/noExplicitAny: a lane holds whatever its stream's decider folds
type Any = any;

interface Command {
  readonly decide: (state: Any) => readonly DomainEvent[];
  readonly metadata: EventMetadata;
  readonly resolve: (outcome: Outcome<Any, Any>) => void;
  readonly reject: (error: unknown) => void;
}

/** A stream's warm state and the commands that wait for it. */
interface Lane {
  readonly stream: string;
  readonly decider: Decider<Any, Any>;
  readonly queue: Command[];
  state: Any;
  revision: number;
  position: number;
  stale: boolean;
  busy: boolean;
}

/** A command's decision on the state that the ones before it in the batch lead to. */
type Decision =
  | { readonly command: Command; readonly events: readonly DomainEvent[]; readonly state: Any }
  | { readonly command: Command; readonly refusal: unknown };

export const createCommandHandler = ({
  store,
  clock = Date.now,
  warmStreams = 10_000,
  maxPending = 10_000,
  deadlineMs = 5_000,
}: CommandHandlerOptions): CommandHandler => {
  // Two lanes for one stream (one evicted while busy) would only conflict and decide again.
  const lanes = new LRUCache<string, Lane>({ max: warmStreams });
  const idle: (() => void)[] = [];
  let pending = 0;
  let turn: Promise<void> | undefined;

  const laneOf = (stream: string, decider: Decider<Any, Any>): Lane => {
    const known = lanes.get(stream);
    if (known) return known;
    const lane = newLane(stream, decider);
    lanes.set(stream, lane);
    return lane;
  };

  /** The same end for all lanes that wait for it in one turn, so that their appends fall together too. */
  const endOfTurn = (): Promise<void> => {
    turn ??= nextTurn().then(() => {
      turn = undefined;
    });
    return turn;
  };

  const work = async (lane: Lane): Promise<void> => {
    lane.busy = true;
    await endOfTurn(); // commands of one turn of the event loop meet
    while (lane.queue.length > 0) {
      const batch = lane.queue.splice(0, maxBatch);
      try {
        tell(await settle(lane, batch), lane.position);
      } catch (error) {
        lane.stale = true;
        for (const command of batch) command.reject(error);
      }
      pending -= batch.length;
    }
    lane.busy = false;
    if (pending === 0) for (const resolve of idle.splice(0)) resolve();
  };

  /** Decides the batch until what it was decided on is what the log holds. */
  const settle = async (lane: Lane, batch: readonly Command[]): Promise<readonly Decision[]> => {
    const deadline = clock() + deadlineMs;
    for (;;) {
      if (lane.stale) await persist(() => refresh(store, lane), deadline);
      const decisions = decideAll(lane, batch);
      const events = newEvents(decisions, clock());
      try {
        if (events.length > 0) {
          const expected = lane.revision < 0 ? "none" : lane.revision;
          const { revision, position } = await persist(
            () => store.append(lane.stream, events, expected),
            deadline,
          );
          advance(lane, decisions, revision, position);
          return decisions;
        }
        // Nothing to append proves nothing about the log: look whether it has moved.
        if (!(await persist(() => refresh(store, lane), deadline))) return decisions;
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        lane.stale = true;
      }
      if (clock() > deadline) throw gaveUp();
    }
  };

  /** Tries again what the store may not have done, until the deadline. Ids are given, so nothing is done twice. */
  const persist = async <T>(attempt: () => Promise<T>, deadline: number): Promise<T> => {
    for (let wait = retryDelayMs.first; ; wait = Math.min(wait * 2, retryDelayMs.most)) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw error;
        if (clock() + wait > deadline) throw gaveUp(error);
        await delay(wait);
      }
    }
  };

  return {
    execute: (decider, stream, decide, metadata) =>
      new Promise((resolve, reject) => {
        if (pending >= maxPending) return reject(tooMany());
        pending += 1;
        const lane = laneOf(stream, decider);
        lane.queue.push({ decide, metadata, resolve, reject });
        if (!lane.busy) void work(lane);
      }),
    get pending() {
      return pending;
    },
    drain: () => (pending === 0 ? Promise.resolve() : new Promise((resolve) => idle.push(resolve))),
  };
};

const newLane = (stream: string, decider: Decider<Any, Any>): Lane => ({
  stream,
  decider,
  queue: [],
  state: decider.initial(),
  revision: -1,
  position: -1,
  stale: true,
  busy: false,
});

/** Folds what the log holds beyond the lane's revision. True when there was something. */
const refresh = async (store: EventStore, lane: Lane): Promise<boolean> => {
  const was = lane.revision;
  for await (const event of store.readStream(lane.stream, { from: lane.revision + 1 })) {
    lane.state = lane.decider.evolve(lane.state, event);
    lane.revision = event.revision;
    lane.position = event.position;
  }
  lane.stale = false;
  return lane.revision !== was;
};

const decideAll = (lane: Lane, batch: readonly Command[]): Decision[] => {
  let state = lane.state;
  return batch.map((command): Decision => {
    try {
      const events = command.decide(state);
      for (const event of events) state = lane.decider.evolve(state, event);
      return { command, events, state };
    } catch (refusal) {
      return { command, refusal };
    }
  });
};

const newEvents = (decisions: readonly Decision[], now: number): NewEvent[] =>
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

const advance = (lane: Lane, decisions: readonly Decision[], revision: number, position: number): void => {
  for (const decision of decisions) if (!("refusal" in decision)) lane.state = decision.state;
  lane.revision = revision;
  lane.position = position;
};

const tell = (decisions: readonly Decision[], position: number): void => {
  for (const decision of decisions) {
    if ("refusal" in decision) decision.command.reject(decision.refusal);
    else decision.command.resolve({ events: decision.events, state: decision.state, position });
  }
};

const gaveUp = (cause?: unknown): Unavailable =>
  new Unavailable("The event store gave no answer in time.", retryAfterSeconds, { cause });

const tooMany = (): Unavailable =>
  new Unavailable("Too many requests wait for the event store.", retryAfterSeconds);
