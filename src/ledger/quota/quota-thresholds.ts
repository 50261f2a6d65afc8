import pLimit from "p-limit";
import { repeatEvery } from "../../async/repeat.ts";
import type { Time } from "../../async/time.ts";
import {
  type QuotaThresholdCrossed,
  usageAccountStream,
} from "../../domain/ledger/accounts/usage-account.ts";
import { chargesOf } from "../../domain/ledger/journal/charges.ts";
import type { JournalEvent } from "../../domain/ledger/journal/journal.ts";
import { monthOf } from "../../domain/ledger/month.ts";
import { type QuotaEvent, quotaDecider, quotaStream } from "../../domain/ledger/quota/quota.ts";
import {
  crossThresholds,
  nextThreshold,
  thresholdDecider,
} from "../../domain/ledger/quota/quota-threshold.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { KnownEntries } from "../accounts/known-entries.ts";
import type { UsageReader } from "../accounts/usage-reader.ts";
import type { OnCharged } from "../ledger.ts";
import { type WatchedKey, WatchedKeys } from "./watched-keys.ts";

/** The thresholds that a key has crossed in a month, in order. */
export interface CrossedThresholds {
  readonly apiKey: string;
  readonly month: string;
  readonly crossed: readonly QuotaThresholdCrossed[];
}

export interface QuotaThresholdsOptions {
  readonly store: EventStore;
  readonly handler: Pick<CommandHandler, "execute">;
  readonly usage: Pick<UsageReader, "countsOf">;
  /** Receives the unposted entries that are read. */
  readonly known?: Pick<KnownEntries, "catchUp">;
  /**
   * The monthly quota of the key's plan; null or undefined without one.
   * @throws {Unavailable}
   */
  readonly quotaOf: (apiKey: string) => number | null | undefined;
  /** Called with all thresholds of the key and month, including those that were known before. */
  readonly onCrossed: (crossed: CrossedThresholds) => Promise<void>;
  readonly clock: () => EpochMs;
  readonly time: Time;
  readonly onError: (what: string, error: unknown) => void;
  /** The maximum number of keys per check. Default: 10,000. */
  readonly keysPerCheck?: number;
}

const maxConcurrentReads = 8;
/**
 * The pause after a check is this many times as long as the check. The first check reads all
 * unposted entries, which may be gigabytes while very many keys are busy.
 */
const pauseFactor = 20;
const minPauseMs = 10_000;
const maxPauseMs = 10 * 60_000;

/**
 * Notices which parts of its quota a key has used, and records each once per month in the key's
 * usage account. Every instance counts the servings of all instances, except its own servings of
 * keys without a quota; the count only decides when the exact usage is read.
 */
export class QuotaThresholds {
  readonly #options: Required<QuotaThresholdsOptions>;
  readonly #watched = new WatchedKeys();
  /** Keys whose usage must be read, by month. */
  readonly #due = new Map<string, Set<string>>();
  /**
   * The next check counts the unposted entries of open journals up to this position of the log.
   * Undefined once they are counted.
   */
  #unpostedUpTo: number | undefined = Number.POSITIVE_INFINITY;
  #hasFailed = false;
  /**
   * The duration of the last check. It is 0 for a check that failed, because such a check may have
   * taken long only by waiting.
   */
  #checkMs = 0;
  #running: Promise<void> = Promise.resolve();
  /** The check that starts after the running one. */
  #next: Promise<void> | undefined;
  /** Ends the schedule. */
  readonly stop: () => void;

  constructor(options: QuotaThresholdsOptions) {
    this.#options = { keysPerCheck: 10_000, known: new KnownEntries(), ...options };
    this.stop = repeatEvery(
      () => this.#pauseMs,
      options.time,
      () => this.check(),
    );
  }

  get #pauseMs(): number {
    return Math.max(minPauseMs, Math.min(this.#checkMs * pauseFactor, maxPauseMs));
  }

  /** Ends the schedule, and checks until nothing is left, or a check fails. */
  async close(): Promise<void> {
    this.stop();
    do await this.check();
    while (this.#due.size > 0 && !this.#hasFailed);
  }

  /**
   * Counts durable events that this process's journal does not contain. An event may be counted
   * twice. Voids are not counted: a read may have included them already, and the count must never
   * be below the usage.
   */
  readonly add = (events: readonly JournalEvent[]): void => {
    for (const event of events) {
      if (event.type !== "SynthesesServed") continue;
      const month = monthOf(event.data.at);
      for (const { apiKey, characters } of chargesOf(event)) this.count(apiKey, month, characters, true);
    }
  };

  /**
   * Makes the next check count the unposted entries of open journals only up to this position of
   * the log. Journals of processes that are gone are included. Call it when later events are given
   * to `add`. If it is never called, the first check counts all unposted entries.
   */
  readonly countUnposted = (upTo: number): void => {
    this.#unpostedUpTo = upTo;
  };

  /** Makes the next check read the key's usage, because its quota may be lower than before. */
  readonly recheck = (apiKey: string): void =>
    this.#addDue(apiKey, monthOf(new Date(this.#options.clock()).toISOString()));

  async #addUnposted(upTo: number): Promise<void> {
    const { store, known } = this.#options;
    await known.catchUp(store, { upTo, onEvent: (event) => this.add([event]) });
  }

  /**
   * Counts a durable serving. It is on the path of every serving, so it reads no plan for a key
   * without a quota.
   */
  readonly count: OnCharged = (apiKey, month, characters, mayHaveQuota) => {
    if (characters === 0) return;
    const watched = this.#watched.count(apiKey, month, characters);
    if (watched) this.#addIfReached(apiKey, month, watched);
    else if (mayHaveQuota) this.#addDue(apiKey, month);
  };

  #addIfReached(apiKey: string, month: string, watched: WatchedKey): void {
    const { base = Number.POSITIVE_INFINITY, counted, crossed = [] } = watched;
    const next = this.#nextOf(apiKey, crossed);
    if (next !== undefined && base + counted >= next) this.#addDue(apiKey, month);
  }

  /**
   * The characters of the key's next threshold; 0 if its plan cannot be read now, so that the key
   * is checked.
   */
  #nextOf(apiKey: string, crossed: readonly QuotaThresholdCrossed[]): number | undefined {
    try {
      const quota = this.#options.quotaOf(apiKey);
      return quota === null || quota === undefined ? undefined : nextThreshold(crossed, quota);
    } catch {
      return 0;
    }
  }

  #addDue(apiKey: string, month: string): void {
    if (this.#nextOf(apiKey, []) === undefined) return;
    const keys = this.#due.get(month) ?? new Set<string>();
    this.#due.set(month, keys.add(apiKey));
  }

  /**
   * Records thresholds that were crossed before the call. Failures are reported, and the next call
   * tries again.
   */
  check(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      this.#running = this.#checkDue();
      return this.#running;
    });
    return this.#next;
  }

  async #checkDue(): Promise<void> {
    const { time } = this.#options;
    const startedAt = time.now();
    this.#hasFailed = false;
    try {
      if (this.#unpostedUpTo !== undefined) await this.#addUnposted(this.#unpostedUpTo);
      this.#unpostedUpTo = undefined;
      this.#watched.beginCheck();
      for (const month of [...this.#due.keys()]) await this.#checkMonth(month);
    } catch (error) {
      this.#hasFailed = true;
      this.#options.onError("crossed thresholds of quotas could not be recorded", error);
    }
    this.#checkMs = this.#hasFailed ? 0 : time.now() - startedAt;
  }

  async #checkMonth(month: string): Promise<void> {
    const due = this.#due.get(month) ?? new Set<string>();
    const keys = due.values().take(this.#options.keysPerCheck).toArray();
    for (const apiKey of keys) due.delete(apiKey);
    if (due.size === 0) this.#due.delete(month);
    try {
      await this.#checkKeys(keys, month);
    } catch (error) {
      for (const apiKey of keys) this.#addDue(apiKey, month);
      throw error;
    }
  }

  /** Compares each key's reserved characters first: its usage is never above them. */
  async #checkKeys(keys: readonly string[], month: string): Promise<void> {
    const reached: string[] = [];
    await pLimit(maxConcurrentReads).map(keys, async (apiKey) => {
      const reserved = await this.#reservedBy(apiKey, month);
      const watched = this.#watched.watch(apiKey, month);
      const next = this.#nextOf(apiKey, watched.crossed ?? []);
      if (next === undefined) return;
      if (reserved >= next) reached.push(apiKey);
      else this.#watched.noteRead(watched, reserved);
    });
    if (reached.length === 0) return;
    const { counts } = await this.#options.usage.countsOf(reached, month);
    await pLimit(maxConcurrentReads).map(reached, (apiKey) =>
      this.#checkUsage(apiKey, month, counts.get(apiKey)?.characters ?? 0),
    );
  }

  async #checkUsage(apiKey: string, month: string, characters: number): Promise<void> {
    const watched = this.#watched.watch(apiKey, month);
    const next = this.#nextOf(apiKey, watched.crossed ?? []);
    if (next === undefined) return;
    if (watched.crossed === undefined || characters >= next) {
      const { clock, handler, quotaOf, onCrossed } = this.#options;
      const at = new Date(clock()).toISOString();
      const quota = quotaOf(apiKey) ?? Number.POSITIVE_INFINITY;
      const { state } = await handler.execute(
        thresholdDecider,
        usageAccountStream(apiKey, month),
        (thresholds) => crossThresholds(thresholds, { apiKey, month, characters, quota, at }),
        { actor: "system" },
      );
      if (state.crossed.length > 0) await onCrossed({ apiKey, month, crossed: state.crossed });
      watched.crossed = state.crossed;
    }
    this.#watched.noteRead(watched, characters);
    if (this.#watched.isLatest(month)) this.#addIfReached(apiKey, month, watched);
  }

  async #reservedBy(apiKey: string, month: string): Promise<number> {
    let quota = quotaDecider.initial();
    for await (const { type, data } of this.#options.store.readStream(quotaStream(apiKey, month))) {
      quota = quotaDecider.evolve(quota, { type, data } as QuotaEvent);
    }
    return quota.total;
  }
}
