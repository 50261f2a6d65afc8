import { untilAborted } from "../async/deadline.ts";
import type { DeadlineQueue, Queued } from "../async/deadline-queue.ts";
import { afterErrors, exponentialBackoff, retry } from "../async/retry.ts";
import { sleep } from "../async/sleep.ts";
import type { Time } from "../async/time.ts";
import { Unavailable } from "../domain/errors.ts";
import {
  type Any,
  type Decider,
  type Decision,
  type DecisionRequest,
  decideBatch,
  type StreamSnapshot,
} from "./decider.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  WrongExpectedRevision,
} from "./event-store.ts";

export interface Outcome<S, E> {
  /** The events of this command; empty if there was nothing to do. */
  readonly events: readonly E[];
  /** The stream's state right after this command. */
  readonly state: S;
  /**
   * Views that have reached this position of the log include this outcome; -1 for a stream without
   * events.
   */
  readonly position: number;
}

export interface Command extends DecisionRequest, Queued<Command> {
  readonly queue: StreamQueue;
  readonly resolve: (outcome: Outcome<Any, Any>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * An append was sent and not acknowledged in time: its events may be in the log now, later, or
 * never.
 */
export class OutcomeUnknown extends Unavailable {}

/** All queues of one command handler share it. */
export interface StreamQueueContext {
  readonly store: EventStore;
  readonly now: () => number;
  readonly time: Time;
  readonly random: () => number;
  readonly readSnapshot: (stream: string) => Promise<StreamSnapshot | undefined>;
  /** Commands that are neither settled nor expired. */
  readonly pending: DeadlineQueue<Command>;
  /** Runs the queue soon, together with other queues. */
  readonly start: (queue: StreamQueue) => void;
}

/** Commands that are decided together and appended at once. */
interface Batch {
  readonly commands: readonly Command[];
  /** Aborted when all commands of the batch have expired. */
  readonly expiry: AbortController;
  /** True if an append was sent, and the store has not refused it. */
  isSent: boolean;
}

/** Bounds the size of one append. */
const maxBatchSize = 256;
/**
 * After this many batches in a row a queue pauses, so that other instances can append to the
 * stream.
 */
const maxBatchesInARow = 16;
const retryDelayMs = { firstMs: 10, maxMs: 500 };
/**
 * The delay doubles with each read that does not show the conflicting event yet: a busy
 * EventStoreDB indexes after 12 ms (median, 200 ms at most). Conflicts in a row double the first
 * delay twice at most, so that a loser never waits much longer than the winner.
 */
const conflictDelayMs = { firstMs: 10, maxMs: 160 };
const maxConflictDoublings = 2;
const retryAfterSeconds = 2;

/**
 * The commands of one stream, decided in order and appended in batches, and the stream's state in
 * memory.
 */
export class StreamQueue {
  readonly #stream: string;
  readonly #decider: Decider<Any, Any>;
  readonly #context: StreamQueueContext;
  readonly #waiting: Command[] = [];
  #batch: Batch | undefined;
  #isRunning = false;
  #snapshot: StreamSnapshot<Any> | undefined;
  /**
   * True if the log may hold events that the snapshot lacks: the next batch then begins with a
   * read.
   */
  #isStale = true;
  #lastStoreError: unknown;

  constructor(stream: string, decider: Decider<Any, Any>, context: StreamQueueContext) {
    this.#stream = stream;
    this.#decider = decider;
    this.#context = context;
  }

  add(command: Command): void {
    this.#waiting.push(command);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#context.start(this);
  }

  /** Processes the commands batch by batch until none waits. */
  async run(): Promise<void> {
    for (let batches = 1; this.#waiting.length > 0; batches++) {
      const startedAt = this.#context.time.now();
      const commands = this.#waiting.splice(0, maxBatchSize);
      await this.#process({ commands, expiry: new AbortController(), isSent: false });
      if (batches % maxBatchesInARow === 0 && this.#waiting.length > 0) {
        const { time, random } = this.#context;
        await sleep(exponentialBackoff({ firstMs: 2 * (time.now() - startedAt) }, 1, random), { time });
      }
    }
    this.#isRunning = false;
  }

  /**
   * Rejects a command whose deadline has passed. Commands expire in order, so a command that still
   * waits is the first of the queue.
   */
  expire(command: Command): void {
    const isWaiting = this.#waiting[0] === command;
    if (isWaiting) this.#waiting.shift();
    const isSent = !isWaiting && this.#batch?.isSent === true;
    const error = new (isSent ? OutcomeUnknown : Unavailable)(
      "The event store did not respond in time.",
      retryAfterSeconds,
      { cause: this.#lastStoreError },
    );
    command.reject(error);
    if (this.#batch?.commands.at(-1) === command) this.#batch.expiry.abort(error);
  }

  async #process(batch: Batch): Promise<void> {
    this.#batch = batch;
    try {
      this.#settle(await this.#decideAndAppend(batch));
    } catch (error) {
      // The append may still succeed later. Its effect is read before the next decision.
      this.#isStale = true;
      for (const command of batch.commands) if (this.#context.pending.delete(command)) command.reject(error);
    }
    this.#batch = undefined;
  }

  /**
   * Decides, and appends with the expected revision. After a conflict it reads the new events and
   * decides again.
   *
   * A refusal, or a decision without events, is final only after a read that began after the
   * command arrived. Such a read shows every event that was acknowledged before: reads may lag
   * behind appends (EventStoreDB shows only indexed events), but not behind acknowledged ones. One
   * such read is enough: events that it does not show are ordered after this decision.
   */
  async #decideAndAppend(batch: Batch): Promise<Decision<Command>[]> {
    const { pending, now } = this.#context;
    const inMemory = this.#isStale ? undefined : this.#snapshot;
    let isFresh = inMemory === undefined;
    let snapshot = inMemory ?? (await this.#load(batch));
    for (let conflicts = 1; ; ) {
      const commands = batch.commands.filter(pending.has);
      const { decisions, events, state } = decideBatch(this.#decider, snapshot.state, commands, now());
      if (events.length === 0) {
        if (isFresh) return decisions;
        snapshot = await this.#load(batch);
      } else {
        const conflict = await this.#append(batch, events, snapshot.revision, state);
        if (!conflict) return decisions;
        snapshot = await this.#loadAfterConflict(batch, conflict.actual, conflicts++);
      }
      isFresh = true;
    }
  }

  async #append(
    batch: Batch,
    events: readonly NewEvent[],
    revision: number,
    state: Any,
  ): Promise<WrongExpectedRevision | undefined> {
    const expected = revision < 0 ? "none" : revision;
    batch.isSent = true;
    try {
      const end = await this.#retry(batch, () => this.#context.store.append(this.#stream, events, expected));
      this.#snapshot = { ...end, state };
      return undefined;
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error;
      batch.isSent = false;
      return error;
    }
  }

  /**
   * Folds the stream's latest events: after the snapshot in memory, else after that of
   * `readSnapshot`, else from the stream's beginning.
   */
  async #load(batch: Batch): Promise<StreamSnapshot<Any>> {
    const snapshot = await this.#retry(batch, async () => {
      const { readSnapshot } = this.#context;
      const known = this.#snapshot ??
        (await readSnapshot(this.#stream)) ?? { state: this.#decider.initial(), revision: -1, position: -1 };
      return await this.#foldNewEvents(known, batch.expiry.signal);
    });
    this.#snapshot = snapshot;
    this.#isStale = false;
    return snapshot;
  }

  /** Stops early, with an unused result, once the batch has expired. */
  async #foldNewEvents(from: StreamSnapshot<Any>, expired: AbortSignal): Promise<StreamSnapshot<Any>> {
    let { state, revision, position } = from;
    for await (const event of this.#context.store.readStream(this.#stream, { fromInclusive: revision + 1 })) {
      if (expired.aborted) break;
      state = this.#decider.evolve(state, event);
      ({ revision, position } = event);
    }
    return { state, revision, position };
  }

  /**
   * EventStoreDB may refuse an append because of events that reads do not show yet, so this reads
   * until they are shown. Waits a random time first, so that the same instance does not lose every
   * conflict.
   */
  async #loadAfterConflict(batch: Batch, actual: number, conflicts: number): Promise<StreamSnapshot<Any>> {
    // The log has lost events, for example because a backup was restored.
    if (actual < (this.#snapshot?.revision ?? -1)) this.#snapshot = undefined;
    const { time, random } = this.#context;
    const { signal } = batch.expiry;
    const doublings = Math.min(conflicts - 1, maxConflictDoublings);
    for (let attempt = 1; ; attempt++) {
      const delayMs = exponentialBackoff(conflictDelayMs, attempt + doublings, random);
      await sleep(delayMs, { time, signal });
      const snapshot = await this.#load(batch);
      if (snapshot.revision >= actual) return snapshot;
    }
  }

  /**
   * Repeats while the store is unavailable, until the batch expires. Appends are safe to repeat:
   * their ids stay the same.
   */
  #retry<T>(batch: Batch, attempt: () => Promise<T>): Promise<T> {
    const { time, random } = this.#context;
    const { signal } = batch.expiry;
    const isUnavailable = (error: unknown): boolean => {
      if (!(error instanceof EventStoreUnavailable)) return false;
      this.#lastStoreError = error;
      return true;
    };
    const delayAfter = afterErrors(isUnavailable, { ...retryDelayMs, random });
    return retry({ time, signal, delayAfter }, () => untilAborted(attempt(), signal));
  }

  #settle(decisions: readonly Decision<Command>[]): void {
    const position = this.#snapshot?.position ?? -1;
    for (const decision of decisions) {
      const { command } = decision;
      if (!this.#context.pending.delete(command)) continue;
      if ("refusal" in decision) command.reject(decision.refusal);
      else command.resolve({ events: decision.events, state: decision.state, position });
    }
  }
}
