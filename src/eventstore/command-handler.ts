import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../async/clock.ts";
import { createDeadlineQueue } from "../async/deadline-queue.ts";
import { Unavailable } from "../domain/errors.ts";
import {
  type EventMetadata,
  type EventStore,
  EventStoreUnavailable,
  WrongExpectedRevision,
} from "./event-store.ts";
import {
  type Any,
  type Batch,
  type Command,
  type Decider,
  type Decision,
  type DomainEvent,
  decideAll,
  type Lane,
  newBatch,
  newEvents,
  newLane,
  type Outcome,
  readBeyond,
  type StreamSnapshot,
  stateAfter,
} from "./stream-queue.ts";

export type { Decider, DomainEvent, Outcome, StreamSnapshot };

/** The one way to write: load, fold, decide, append as expected; on a conflict fold what is new and decide again. */
export interface CommandHandler {
  /**
   * Decides on the stream's state and makes the decision durable. `decide` is pure: it may run more than once. Commands
   * for one stream that meet are decided one after the other and appended as one batch; nothing is told to anyone,
   * not even a refusal, before all that it rests on is in the log.
   * @throws whatever `decide` throws
   * @throws {OutcomeUnknown} when an append was sent and not answered in time: the decision may be in the log, or come later
   * @throws {Unavailable} when the event store was not reached in time, or too many commands wait: nothing is in the log
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
  /**
   * What is known of a stream without reading it whole; it may lag behind the log, and what follows is read.
   * @throws {EventStoreUnavailable}
   */
  readonly warm?: (stream: string) => Promise<StreamSnapshot | undefined>;
  /** Streams whose folded state is kept in memory. Default 10,000. */
  readonly warmStreams?: number;
  /** Commands that may wait at once. Default 10,000. */
  readonly maxPending?: number;
  /** How long a command waits, from when it was put, before it is given up. Default 5,000. */
  readonly deadlineMs?: number;
  /** Drives deadlines and delays. Default: real time. */
  readonly timers?: Clock;
  /** Jitter, from 0 to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** At most so many commands are appended at once: well below what one append may weigh. */
const maxBatch = 256;
const retryDelayMs = { first: 10, most: 500 };
/**
 * Doubled with each read that does not show a conflict's cause yet: a busy EventStoreDB needs 12 ms (median, up to 200).
 * Doubled twice at most by conflicts in a row, or the loser would wait ever longer than the winner.
 */
const conflictDelayMs = { first: 10, most: 160 };
const maxConflictDoublings = 2;
/** Batches in a row after which an instance pauses on a stream, so that other instances can append to it. */
const batchesInARow = 16;
/**
 * This many streams with new commands are decided at once, fewer at the end of the turn of the event loop. The store then
 * writes the first appends of a long turn while its other requests are read; a lower number costs more messages to it.
 */
const startedTogether = 4;
const retryAfterSeconds = 2;

export const createCommandHandler = ({
  store,
  clock = Date.now,
  warm = async () => undefined,
  warmStreams = 10_000,
  maxPending = 10_000,
  deadlineMs = 5_000,
  timers = systemClock,
  random = Math.random,
}: CommandHandlerOptions): CommandHandler => {
  // Two lanes for one stream (one evicted while busy) would only conflict and decide again.
  const lanes = new LRUCache<string, Lane>({ max: warmStreams });
  let starting: Lane[] = [];

  /** Commands come and are given up in one order: an overdue one that is still queued is the first of its queue. */
  const giveUp = (command: Command): void => {
    const { lane } = command;
    const isQueued = lane.queue[0] === command;
    const error = gaveUp(lane.trouble, !isQueued && lane.batch?.isSent === true);
    command.reject(error);
    if (isQueued) lane.queue.shift();
    else if (lane.batch?.commands.at(-1) === command) lane.batch.giveUp(error);
  };
  const waiting = createDeadlineQueue<Command>(deadlineMs, giveUp, timers);

  const delay = (ms: number): Promise<void> => new Promise((resolve) => timers.after(ms, resolve));
  /** Between half of it and all of it. */
  const jittered = (ms: number): number => (ms * (1 + random())) / 2;

  const laneOf = (stream: string, decider: Decider<Any, Any>): Lane => {
    const known = lanes.get(stream);
    if (known) return known;
    const lane = newLane(stream, decider);
    lanes.set(stream, lane);
    return lane;
  };

  /** Commands that meet in one turn share an append to their stream, and appends to several streams share a message. */
  const start = (lane: Lane): void => {
    lane.busy = true;
    starting.push(lane);
    if (starting.length === startedTogether) startAll();
    else if (starting.length === 1) setImmediate(startAll);
  };

  const startAll = (): void => {
    const lanes = starting;
    starting = [];
    for (const lane of lanes) void work(lane);
  };

  const work = async (lane: Lane): Promise<void> => {
    for (let batches = 1; lane.queue.length > 0; batches++) {
      const begun = timers.now();
      const batch = newBatch(lane.queue.splice(0, maxBatch));
      lane.batch = batch;
      try {
        tell(await settle(lane, batch), lane.head?.position ?? -1);
      } catch (error) {
        lane.stale = true;
        for (const command of batch.commands) if (waiting.delete(command)) command.reject(error);
      }
      lane.batch = undefined;
      // The winner of a conflict could go on winning: it appends again before the loser has read what it lost to.
      if (batches % batchesInARow === 0 && lane.queue.length > 0) {
        await delay(jittered(2 * (timers.now() - begun)));
      }
    }
    lane.busy = false;
  };

  /**
   * Decides the batch until it is decided on what the log holds. An append that is given up may land later: the lane is
   * stale then, and its next append expects the revision that it has read.
   *
   * Reads may lag behind appends (EventStoreDB shows what is indexed), but never behind an append that was acknowledged.
   * A refusal, or a decision without events, rests on a read that began after the command: every fact that anybody was
   * answered before is in it, and one that was still on its way is ordered after this decision. One such read is enough:
   * a second would find new events again and again on a stream to which other instances append.
   */
  const settle = async (lane: Lane, batch: Batch): Promise<readonly Decision[]> => {
    const known = lane.stale ? undefined : lane.head;
    let isRead = known === undefined;
    let head = known ?? (await refresh(lane, batch));
    for (let conflicts = 1; ; conflicts++) {
      const decisions = decideAll(head, lane.decider, batch.commands.filter(waiting.has));
      const events = newEvents(decisions, clock());
      try {
        if (events.length > 0) {
          const expected = head.revision < 0 ? "none" : head.revision;
          batch.isSent = true;
          const end = await persist(lane, batch, () => store.append(lane.stream, events, expected));
          lane.head = { ...end, state: stateAfter(decisions, head.state) };
          return decisions;
        }
        if (isRead) return decisions;
        head = await refresh(lane, batch);
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        batch.isSent = false;
        head = await catchUp(lane, batch, error.actual, conflicts);
      }
      isRead = true;
    }
  };

  /**
   * Reads what a conflict was about. A server may refuse an append because of events that it does not show yet: nothing
   * is decided before they can be read. Waits a random time first, so that no instance loses every time.
   */
  const catchUp = async (
    lane: Lane,
    batch: Batch,
    actual: number,
    conflicts: number,
  ): Promise<StreamSnapshot<Any>> => {
    const known = lane.head?.revision ?? -1;
    if (actual < known) lane.head = undefined; // the log has lost its end, as after a restored backup
    let backOff = conflictDelayMs.first * 2 ** Math.min(conflicts - 1, maxConflictDoublings);
    for (;;) {
      await Promise.race([batch.over, delay(jittered(backOff))]);
      const head = await refresh(lane, batch);
      if (head.revision >= actual) return head;
      backOff = Math.min(backOff * 2, conflictDelayMs.most);
    }
  };

  /** Brings the lane's head up to the log. */
  const refresh = async (lane: Lane, batch: Batch): Promise<StreamSnapshot<Any>> => {
    const { initial } = lane.decider;
    const head = await persist(lane, batch, async () => {
      const known = lane.head ??
        (await warm(lane.stream)) ?? { state: initial(), revision: -1, position: -1 };
      return await readBeyond(store, lane, known, batch);
    });
    lane.head = head;
    lane.stale = false;
    return head;
  };

  /** Tries again what the store may not have done, while anybody waits. Ids are given, so nothing is done twice. */
  const persist = async <T>(lane: Lane, batch: Batch, attempt: () => Promise<T>): Promise<T> => {
    for (let wait = retryDelayMs.first; ; wait = Math.min(wait * 2, retryDelayMs.most)) {
      try {
        return await Promise.race([batch.over, attempt()]);
      } catch (error) {
        if (!(error instanceof EventStoreUnavailable)) throw error;
        lane.trouble = error;
        await Promise.race([batch.over, delay(wait)]);
      }
    }
  };

  const tell = (decisions: readonly Decision[], position: number): void => {
    for (const decision of decisions) {
      const { command } = decision;
      if (!waiting.delete(command)) continue;
      if ("refusal" in decision) command.reject(decision.refusal);
      else command.resolve({ events: decision.events, state: decision.state, position });
    }
  };

  return {
    execute: (decider, stream, decide, metadata) =>
      new Promise((resolve, reject) => {
        if (waiting.size >= maxPending) return reject(tooMany());
        const lane = laneOf(stream, decider);
        const command = { lane, decide, metadata, resolve, reject };
        waiting.add(command);
        lane.queue.push(command);
        if (!lane.busy) start(lane);
      }),
    get pending() {
      return waiting.size;
    },
    drain: waiting.drained,
  };
};

/** The event store did not say what came of an append: its events may be in the log now, later, or never. */
export class OutcomeUnknown extends Unavailable {}

const gaveUp = (cause: unknown, isSent: boolean): Unavailable =>
  new (isSent ? OutcomeUnknown : Unavailable)("The event store gave no answer in time.", retryAfterSeconds, {
    cause,
  });

const tooMany = (): Unavailable =>
  new Unavailable("Too many requests wait for the event store.", retryAfterSeconds);
