import { LRUCache } from "lru-cache";
import { createDeadlineQueue } from "../async/deadline-queue.ts";
import { systemTime, type Time } from "../async/time.ts";
import { Unavailable } from "../domain/errors.ts";
import type { EpochMs } from "../domain/time.ts";
import type { Any, Decider, DomainEvent, StreamSnapshot } from "./decider.ts";
import type { EventMetadata, EventStore } from "./event-store.ts";
import { type Command, type Outcome, StreamQueue, type StreamQueueContext } from "./stream-queue.ts";

export type { Decider, DomainEvent, StreamSnapshot } from "./decider.ts";
export { type Outcome, OutcomeUnknown } from "./stream-queue.ts";

/**
 * Executes commands on streams that several processes write. It reads and folds the stream,
 * decides, and appends with the expected revision. After a conflict it decides again.
 */
export interface CommandHandler {
  /**
   * Decides on the stream's state and appends the decision. `decide` is pure and may run more than
   * once. Commands for one stream that arrive while an append is in flight are decided in order and
   * appended as one batch. A command gets its response, even a refusal, only once all events on
   * which the response depends are in the log.
   * @throws the errors of `decide`
   * @throws {OutcomeUnknown} if an append was sent and not acknowledged before the deadline: the
   * events may be in the log, now or later
   * @throws {Unavailable} if the store was not reached before the deadline, or too many commands
   * wait: nothing is in the log
   */
  execute<S, E extends DomainEvent>(
    decider: Decider<S, E>,
    stream: string,
    decide: (state: S) => readonly E[],
    metadata: EventMetadata,
  ): Promise<Outcome<S, E>>;
  /** The number of commands without a response. */
  readonly pending: number;
  /** Resolves when every command has its response. */
  drain(): Promise<void>;
}

interface CommandHandlerOptions {
  readonly store: EventStore;
  readonly clock?: () => EpochMs;
  /**
   * A recent state of a stream, to avoid reading the whole stream. It may lag behind the log: later
   * events are read.
   * @throws {EventStoreUnavailable}
   */
  readonly readSnapshot?: (stream: string) => Promise<StreamSnapshot | undefined>;
  /** The number of streams whose states are kept in memory. Default: 10,000. */
  readonly warmStreams?: number;
  /** The number of commands that may wait at once. Default: 10,000. */
  readonly maxPending?: number;
  /** The time that a command may wait for its response. Default: 5,000. */
  readonly deadlineMs?: number;
  /** Measures deadlines and delays. Default: real time. */
  readonly time?: Time;
  /** Gives the jitter of delays, 0 to 1. Default: `Math.random`. */
  readonly random?: () => number;
}

const retryAfterSeconds = 2;
/**
 * A lower number costs more messages to the store. A higher one delays the first appends of a long
 * turn of the event loop.
 */
const maxStartedTogether = 8;

export const createCommandHandler = ({
  store,
  clock = Date.now,
  readSnapshot = async () => undefined,
  warmStreams = 10_000,
  maxPending = 10_000,
  deadlineMs = 5_000,
  time = systemTime,
  random = Math.random,
}: CommandHandlerOptions): CommandHandler => {
  const pending = createDeadlineQueue<Command>(deadlineMs, (command) => command.queue.expire(command), time);
  const context: StreamQueueContext = {
    store,
    now: clock,
    time,
    random,
    readSnapshot,
    pending,
    start: createStarter(),
  };
  // A queue that is evicted while it has commands finishes them. If its stream has a new queue by
  // then, the appends of the two queues may conflict, which is harmless. `max` would allocate lists
  // of this length at once: 0.8 ms and 200 KB for each handler.
  const queues = new LRUCache<string, StreamQueue>({ maxSize: warmStreams, sizeCalculation: () => 1 });

  const queueFor = (stream: string, decider: Decider<Any, Any>): StreamQueue => {
    const known = queues.get(stream);
    if (known) return known;
    const queue = new StreamQueue(stream, decider, context);
    queues.set(stream, queue);
    return queue;
  };

  return {
    execute: (decider, stream, decide, metadata) =>
      new Promise((resolve, reject) => {
        if (pending.size >= maxPending) {
          return reject(new Unavailable("Too many requests wait for the event store.", retryAfterSeconds));
        }
        const queue = queueFor(stream, decider);
        const command = { queue, decide, metadata, resolve, reject, queueNode: undefined };
        pending.add(command);
        queue.add(command);
      }),
    get pending() {
      return pending.size;
    },
    drain: pending.drained,
  };
};

/**
 * Starts queues at the end of the turn of the event loop, or a few at once in a long turn, so that
 * commands of one turn share an append, and appends to several streams share a message to the
 * store.
 */
const createStarter = (): ((queue: StreamQueue) => void) => {
  let starting: StreamQueue[] = [];
  const startAll = (): void => {
    const queues = starting;
    starting = [];
    for (const queue of queues) void queue.run();
  };
  return (queue) => {
    starting.push(queue);
    if (starting.length === maxStartedTogether) startAll();
    else if (starting.length === 1) setImmediate(startAll);
  };
};
