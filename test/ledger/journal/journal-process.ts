import { expect } from "chai";
import { keyNumberOf } from "../../../src/domain/accounts/key-numbers.ts";
import { eventDigest } from "../../../src/domain/ledger/journal/canonical.ts";
import { type Chained, JournalTakenOver, journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import type { Serving, VoidedServing } from "../../../src/domain/ledger/journal/serving.ts";
import { monthOf } from "../../../src/domain/ledger/month.ts";
import { OutcomeUnknown } from "../../../src/eventstore/command-handler.ts";
import type { EventStore, NewEvent } from "../../../src/eventstore/event-store.ts";
import type { FlushedEvent } from "../../../src/ledger/journal/journal-flush.ts";
import { JournalWriter } from "../../../src/ledger/journal/journal-writer.ts";
import type { JournalWriterOptions } from "../../../src/ledger/journal/journal-writer-options.ts";
import { collect } from "../../support/collect.ts";
import { readJournal } from "../../support/read-journal.ts";
import { serving, voided } from "../../support/servings.ts";

type RecordResponse = { readonly at: string; readonly month: string } | { readonly error: Error };

/**
 * A process that serves, and continues in a new journal whenever its journal is closed by another
 * process.
 */
export class JournalProcess {
  readonly responses = new Map<string, RecordResponse>();
  /** The process has voided these. */
  readonly voids = new Set<string>();
  readonly journals: string[] = [];
  readonly flushed = new Map<string, FlushedEvent[]>();
  readonly #options: Omit<JournalWriterOptions, "journal">;
  readonly #name: string;
  #served = 0;
  #fences = 0;
  #largestFlush = 0;
  #appendsInFlight = 0;
  #writer: JournalWriter;

  constructor(name: string, options: Omit<JournalWriterOptions, "journal">) {
    this.#name = name;
    this.#options = { ...options, store: this.#observed(options.store) };
    this.#writer = this.#openWriter();
  }

  get journal(): string {
    return this.#writer.journal;
  }

  /** How many requests have no response yet. */
  get unanswered(): number {
    return this.#served - this.responses.size;
  }

  serve(changes: Partial<Serving> = {}): void {
    this.#served += 1;
    this.#serve(serving({ requestId: `${this.#name}-${this.#served}`, ...changes }));
  }

  /** Voids the first confirmed serving that is not voided yet. */
  void(): void {
    for (const [requestId, response] of this.responses) {
      if ("error" in response || this.voids.has(requestId)) continue;
      this.voids.add(requestId);
      this.#void([voided(serving({ requestId }), response.at)]);
      return;
    }
  }

  notePosted(): void {
    this.#writer.notePosted(0);
  }

  flush(): Promise<void> {
    return this.#writer.flushed();
  }

  close(): Promise<number> {
    return this.#writer.close("shutdown");
  }

  #serve(one: Serving): void {
    const month = this.#writer.month();
    this.#writer.addServing(one, keyNumberOf(one.apiKey), (error, at) => {
      if (error instanceof JournalTakenOver) return this.#serve(one);
      expect(this.responses.has(one.requestId), "answered twice").to.equal(false);
      this.responses.set(one.requestId, error ? { error } : { at, month });
    });
  }

  #void(voids: readonly VoidedServing[]): void {
    if (voids.length > 0) this.#writer.addVoids(voids);
  }

  #openWriter(): JournalWriter {
    const journal = `${this.#name}.${this.journals.length}`;
    const flushed: FlushedEvent[] = [];
    this.journals.push(journal);
    this.flushed.set(journal, flushed);
    return new JournalWriter({
      ...this.#options,
      journal,
      onFlushed: (events) => flushed.push(...events),
      onTakenOver: ({ voids }) => {
        this.#fences += 1;
        this.#writer = this.#openWriter();
        this.#void(voids);
      },
    });
  }

  #observed(store: EventStore): EventStore {
    return {
      ...store,
      append: async (stream, events, expected) => {
        this.#appendsInFlight += 1;
        expect(this.#appendsInFlight, "appends in flight").to.equal(1);
        if (entriesIn(events) > events.length) {
          const bytes = events.reduce((sum, event) => sum + Buffer.byteLength(JSON.stringify(event)), 0);
          this.#largestFlush = Math.max(this.#largestFlush, bytes);
        }
        try {
          return await store.append(stream, events, expected);
        } finally {
          this.#appendsInFlight -= 1;
        }
      },
    };
  }

  /** Compares the journals with what the process has completed. Call it after `close`. */
  async verify(store: EventStore): Promise<void> {
    const servedAt = new Map<string, string>();
    const voids = new Map<string, number>();
    for (const journal of this.journals) {
      for await (const { at, servings, voided: ended } of readJournal(store, journal)) {
        for (const { requestId } of servings) {
          expect(servedAt.has(requestId), `${requestId} is journalled twice`).to.equal(false);
          servedAt.set(requestId, at);
        }
        for (const { requestId, servedAt: of } of ended) {
          expect(of, "the time of the voided serving").to.equal(servedAt.get(requestId));
          voids.set(requestId, (voids.get(requestId) ?? 0) + 1);
        }
      }
      await this.#verifyChain(store, journal);
    }
    expect(this.unanswered, "unanswered").to.equal(0);
    for (const [requestId, response] of this.responses) {
      const expectedVoids = this.voids.has(requestId) ? 1 : 0;
      if ("at" in response) {
        expect(servedAt.get(requestId), `success of ${requestId}`).to.equal(response.at);
        expect(monthOf(response.at), `month of ${requestId}`).to.equal(response.month);
        expect(voids.get(requestId) ?? 0, `voids of ${requestId}`).to.equal(expectedVoids);
      } else {
        const isJournalled = servedAt.has(requestId);
        if (!(response.error instanceof OutcomeUnknown))
          expect(isJournalled, `${requestId} was refused`).to.equal(false);
        expect(voids.get(requestId) ?? 0, `${requestId} is not charged`).to.equal(isJournalled ? 1 : 0);
      }
    }
    expect(this.#fences, "fences").to.equal(this.journals.length - 1);
    expect(this.#largestFlush).to.be.at.most(this.#options.maxFlushBytes ?? Number.POSITIVE_INFINITY);
  }

  async #verifyChain(store: EventStore, journal: string): Promise<void> {
    const events = await collect(store.readStream(journalStream(journal)));
    let previous: string | null = null;
    let last = "";
    for (const event of events) {
      const { at, previous: link } = event.data as Chained;
      expect(link, `the link of ${event.type} ${event.revision}`).to.equal(previous);
      expect(at >= last, `${at} after ${last}`).to.equal(true);
      previous = eventDigest(event);
      last = at;
    }
    const own = this.flushed.get(journal) ?? [];
    expect(own.map(({ revision, digest }) => [revision, digest])).to.deep.equal(
      events.slice(0, own.length).map((event) => [event.revision, eventDigest(event)]),
    );
    expect(events.slice(own.length).every(({ type }) => type === "JournalClosed")).to.equal(true);
  }
}

const entriesIn = (events: readonly NewEvent[]): number =>
  events.reduce((sum, { data }) => {
    const { requestIds, servings } = data as { requestIds?: unknown[]; servings?: unknown[] };
    return sum + (requestIds?.length ?? servings?.length ?? 1);
  }, 0);
