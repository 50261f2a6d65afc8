import { createDeadlineQueue, type DeadlineQueue } from "../../async/deadline-queue.ts";
import { isoClock } from "../../async/iso-clock.ts";
import { Unavailable } from "../../domain/errors.ts";
import { type JournalClosed, JournalTakenOver, journalStream } from "../../domain/ledger/journal/journal.ts";
import type { Serving, StreamEnd, VoidedServing } from "../../domain/ledger/journal/serving.ts";
import { OutcomeUnknown } from "../../eventstore/command-handler.ts";
import type { AppendResult, EventStoreUnavailable } from "../../eventstore/event-store.ts";
import { FlushSchedule } from "./flush-schedule.ts";
import { appendToJournal } from "./journal-append.ts";
import { JournalChain } from "./journal-chain.ts";
import {
  closingFlush,
  collectFlush,
  type Flush,
  flushedEvents,
  takeLostEntries,
  voidOf,
} from "./journal-flush.ts";
import { defaultOptions, type JournalWriterOptions } from "./journal-writer-options.ts";
import {
  type PendingServing,
  runReporting,
  type ServingCallback,
  WaitingEntries,
} from "./pending-entries.ts";

/**
 * Writes this process's journal. At most one append is in flight. Later entries wait for the next
 * flush.
 */
export class JournalWriter {
  readonly journal: string;
  readonly #options: Required<JournalWriterOptions>;
  readonly #chain: JournalChain;
  readonly #deadlines: DeadlineQueue<PendingServing>;
  readonly #waiting = new WaitingEntries();
  readonly #schedule: FlushSchedule;
  /**
   * True if a flush starts at the end of this turn of the event loop, unless one is then in flight
   * or delayed.
   */
  #isTurnEndScheduled = false;
  #inFlight: Flush | undefined;
  #closing: { reason: JournalClosed["reason"]; closed: PromiseWithResolvers<number> } | undefined;
  #closedRevision: number | undefined;
  #lastStoreError: EventStoreUnavailable | undefined;

  constructor(options: JournalWriterOptions) {
    this.#options = { ...defaultOptions, ...options };
    const { journal, clock, deadlineMs, processes, time } = this.#options;
    this.journal = journal;
    this.#chain = new JournalChain(isoClock(clock));
    this.#deadlines = createDeadlineQueue(deadlineMs, this.#expire, time);
    const start = (): void => {
      if (!this.#options.signal.aborted) this.#startFlush();
    };
    this.#schedule = new FlushSchedule(time, start, processes);
  }

  /** The number of entries that are not durable yet. */
  get pending(): number {
    return (this.#inFlight?.entries ?? 0) + this.#waiting.length;
  }

  /** The number of pending voids and ends of streams. */
  get backgroundEntries(): number {
    const { voids = [], streams = [] } = this.#inFlight ?? {};
    return voids.length + streams.length + this.#waiting.backgroundEntries;
  }

  /** The month of servings that are added in this turn of the event loop. */
  month = (): string => {
    this.#scheduleTurnEnd();
    return this.#chain.month;
  };

  /**
   * True if the clock was corrected, after which another journal must be used. Call `month` first:
   * it reads the clock.
   */
  get isAheadOfClock(): boolean {
    return this.#chain.isAheadOfClock;
  }

  /**
   * Adds a serving to a later flush. Calls `done` once, never before this method returns. When the
   * serving is durable, there is no error, and `at` is the time of its event. Otherwise `at` is
   * empty, and the error is
   * - {Unavailable}: the serving is not in the journal and never will be: its deadline passed
   *   before it was sent, or too many wait;
   * - {OutcomeUnknown}: its deadline passed after it was sent. If it becomes durable, the writer
   *   voids it in a later flush;
   * - {JournalTakenOver}: the journal is closed without the serving: add it to the next journal.
   */
  addServing = (serving: Serving, keyNumber: number, done: ServingCallback): void => {
    const refusal = this.#refusal();
    if (refusal) {
      queueMicrotask(() => this.#call(() => done(refusal, "")));
      return;
    }
    const month = this.month();
    const entry: PendingServing = { serving, keyNumber, month, done, isExpired: false, queueNode: undefined };
    this.#waiting.servings.add(entry);
    this.#deadlines.add(entry);
  };

  #refusal(): Error | undefined {
    if (this.#isClosed) return new JournalTakenOver(this.journal);
    if (this.#deadlines.size < this.#options.maxPending) return undefined;
    return new Unavailable("Too many requests wait for the event store.", 2);
  }

  get #isClosed(): boolean {
    return this.#closing !== undefined || this.#closedRevision !== undefined;
  }

  /**
   * Adds voids to the next flush.
   * @throws {JournalTakenOver} after `close` or `onTakenOver`
   */
  addVoids = (servings: readonly VoidedServing[]): void =>
    this.#addToNextFlush(({ voids }) => {
      for (const one of servings) voids.add(one);
    });

  /**
   * Adds the end of a stream to the next flush.
   * @throws {JournalTakenOver} as `addVoids` does
   */
  addStreamEnd = (end: StreamEnd): void => this.#addToNextFlush(({ streams }) => streams.add(end));

  #addToNextFlush(add: (waiting: WaitingEntries) => void): void {
    if (this.#isClosed) throw new JournalTakenOver(this.journal);
    add(this.#waiting);
    this.#scheduleTurnEnd();
  }

  /** Adds `JournalPosted` to the next flush. Does nothing in a closed journal. */
  notePosted = (postedUpTo: number): void => {
    this.#waiting.postedUpTo = postedUpTo;
    this.#scheduleTurnEnd();
  };

  /**
   * Resolves when everything added so far is durable, except servings that have failed, or when the
   * journal is taken over. Never rejects.
   */
  flushed = (): Promise<void> => this.#notified(this.#waiting.untilTaken());

  /**
   * Does what `flushed` does, but does not wait for voids and ends of streams that the store has
   * refused: they may be repeated much later.
   */
  appended = (): Promise<void> => this.#notified(this.#waiting.untilSent());

  #notified(taken: Promise<void>): Promise<void> {
    if (!this.#inFlight) this.#waiting.notifyTaken();
    return taken;
  }

  /**
   * Flushes, then appends `JournalClosed`. Adding is an error from now on. Resolves with the last
   * revision when the journal is closed, by this process or another one. Resolves with -1 if the
   * journal has no event: then nothing is appended.
   */
  close = (reason: "shutdown" | "idle"): Promise<number> => {
    if (this.#closedRevision !== undefined) return Promise.resolve(this.#closedRevision);
    this.#closing ??= { reason, closed: Promise.withResolvers() };
    this.#scheduleTurnEnd();
    return this.#closing.closed.promise;
  };

  #scheduleTurnEnd(): void {
    if (this.#isTurnEndScheduled) return;
    this.#isTurnEndScheduled = true;
    setImmediate(this.#endTurn);
    this.#chain.beginTurn();
  }

  #endTurn = (): void => {
    this.#isTurnEndScheduled = false;
    const isDelayed = !this.#isClosed && this.#schedule.isDelayed(this.#waiting.servings.length);
    if (!this.#inFlight && !isDelayed) this.#startFlush();
  };

  #startOrDelayFlush(last: Flush): void {
    const completed = last.servings.filter(({ isExpired }) => !isExpired).length;
    const waiting = this.#waiting.servings.length;
    if (!this.#isClosed && this.#schedule.delayNext({ completed, waiting })) this.#waiting.notifyTaken();
    else this.#startFlush();
  }

  #startFlush(): void {
    this.#waiting.notifyTaken();
    if (this.#closedRevision !== undefined) return;
    this.#inFlight = this.#nextFlush();
    if (this.#inFlight) void this.#append(this.#inFlight);
  }

  #nextFlush(): Flush | undefined {
    const { refused } = this.#waiting;
    const entries = refused.isDue ? refused : this.#waiting;
    if (entries.isEmpty) {
      if (!this.#closing || !refused.isEmpty) return undefined;
      if (this.#chain.revision >= 0)
        return closingFlush(this.#closing.reason, this.#chain.nextLink(this.month()), this.#options.clock());
      this.#end(-1);
      return undefined;
    }
    const link = this.#chain.nextLink(entries.servings.first?.month ?? this.month());
    const { maxFlushBytes: maxBytes, clock } = this.#options;
    const maxServings = this.#schedule.maxServings(entries.servings.length);
    return collectFlush(entries, link, { maxBytes, maxServings }, clock());
  }

  /** Never rejects. */
  async #append(flush: Flush): Promise<void> {
    const { store, time, signal } = this.#options;
    this.#schedule.sent();
    const appended = await appendToJournal(journalStream(this.journal), flush.events, this.#chain.revision, {
      store,
      time,
      signal,
      onUnavailable: (error) => {
        this.#lastStoreError = error;
      },
    }).catch((error: unknown) => ({ error }));
    this.#inFlight = undefined;
    if ("error" in appended) return this.#fail(flush, appended.error);
    const { end, takenOverRevision } = appended;
    if (end) this.#record(flush, end);
    if (takenOverRevision === undefined) this.#startOrDelayFlush(flush);
    if (end) this.#report(flush, end);
    if (takenOverRevision !== undefined && this.#closedRevision === undefined)
      this.#handOver(end ? undefined : flush, takenOverRevision);
  }

  #record(flush: Flush, { revision }: AppendResult): void {
    this.#chain.extend(flush, revision);
    this.#waiting.refused.accepted();
    for (const { serving, isExpired } of flush.servings) if (isExpired) this.#void(serving, flush.at);
    if (flush.isClosing) this.#end(revision);
  }

  /** Takes back the charge of a serving that became durable after its caller was refused. */
  #void(serving: Serving, at: string): void {
    if (serving.idempotency) this.#call(() => this.#options.onExpired(serving, at));
    else this.#waiting.voids.add(voidOf(serving, at));
  }

  #report(flush: Flush, end: AppendResult): void {
    const { onFlushed, onVoided } = this.#options;
    this.#call(() => onFlushed(flushedEvents(flush, end)));
    for (const one of flush.voids) this.#call(() => onVoided(one));
    this.#settle(flush.servings, undefined, flush.at);
  }

  #handOver(lost: Flush | undefined, revision: number): void {
    const servings = [...(lost?.servings ?? []), ...this.#waiting.servings.takeAll()];
    const entries = takeLostEntries(lost, this.#waiting, this.journal);
    this.#end(revision);
    this.#call(() => this.#options.onTakenOver(entries));
    this.#settle(servings, new JournalTakenOver(this.journal), "");
  }

  #end(revision: number): void {
    this.#closedRevision = revision;
    this.#waiting.notifyTaken();
    this.#closing?.closed.resolve(revision);
  }

  #fail(flush: Flush, error: unknown): void {
    const { signal, onError } = this.#options;
    if (!signal.aborted) onError(error);
    if (flush.isClosing || signal.aborted) {
      this.#closing?.closed.reject(error);
      this.#closing = undefined;
    }
    if (!signal.aborted) this.#continueWithout(flush);
    this.#settle(flush.servings, error as Error, "");
  }

  /** Continues after the store has refused a flush, of which nothing is stored. */
  #continueWithout(flush: Flush): void {
    const { time, onVoided } = this.#options;
    this.#waiting.refused.refuse(flush, { time, repeat: () => this.#scheduleTurnEnd() });
    this.#startFlush();
    for (const { serving, isExpired } of flush.servings)
      if (isExpired) this.#call(() => onVoided(voidOf(serving, flush.at)));
  }

  #settle(servings: readonly PendingServing[], error: Error | undefined, at: string): void {
    for (const entry of servings) if (this.#deadlines.delete(entry)) this.#call(() => entry.done(error, at));
  }

  readonly #call = (callback: () => void): void => runReporting(callback, this.#options.onError);

  /** Servings expire in order, so one that still waits is the first of the queue. */
  #expire = (entry: PendingServing): void => {
    const isWaiting = this.#waiting.servings.first === entry;
    if (isWaiting) this.#waiting.servings.takeFirst();
    entry.isExpired = true;
    const cause = this.#lastStoreError;
    const Expired = isWaiting ? Unavailable : OutcomeUnknown;
    const error = new Expired("The event store did not respond in time.", 2, { cause });
    this.#call(() => entry.done(error, ""));
  };
}
