import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import {
  type EventStore,
  EventStoreDamaged,
  EventStoreUnavailable,
} from "../../../../src/eventstore/event-store.ts";
import { findDamage } from "../../../../src/eventstore/sqlite/database.ts";
import { eventAt, logPages, streamPages } from "../../../../src/eventstore/sqlite/pages.ts";
import type {
  LogRequest,
  ReaderProtocol,
  StreamRequest,
} from "../../../../src/eventstore/sqlite/protocol.ts";
import { readStream } from "../../../../src/eventstore/sqlite/read-stream.ts";
import { openSubscriptions } from "../../../../src/eventstore/sqlite/subscription.ts";
import type { WorkerClient } from "../../../../src/eventstore/sqlite/worker-rpc.ts";

/** A row as stored, with the name of its stream. */
export interface Row {
  readonly position: number;
  readonly stream: number;
  readonly revision: number;
  readonly id: string;
  readonly created: number;
  readonly body: string;
  readonly name: string;
}

/**
 * Without types, keys and constraints: a program that writes the file's pages itself can store
 * anything. The indexes agree with the table: `checkIntegrity` would find it if they did not.
 */
const schema = `
  CREATE TABLE streams (id INTEGER PRIMARY KEY, name, first_revision, max_count, max_age_seconds);
  CREATE TABLE events (position INTEGER PRIMARY KEY, stream, revision, id, created, body);
  CREATE INDEX streams_by_name ON streams (name);
  CREATE INDEX events_by_stream ON events (stream, revision);
`;

/** A copy in memory of an event store's file, read by the driver's own queries. */
export class EditedLog {
  readonly rows: readonly Row[];
  readonly streams: readonly { readonly id: number; readonly name: string }[];
  readonly store: EventStore;
  readonly #db = new DatabaseSync(":memory:");

  constructor(path: string) {
    this.#db.exec(schema);
    this.#db.prepare("ATTACH ? AS stored").run(path);
    this.#db.exec(
      "INSERT INTO streams SELECT * FROM stored.streams; INSERT INTO events SELECT * FROM stored.events",
    );
    this.#db.exec("DETACH stored");
    this.rows = this.select<Row>(
      "SELECT e.*, s.name FROM events e JOIN streams s ON s.id = e.stream ORDER BY position",
    );
    this.streams = this.select("SELECT id, name FROM streams ORDER BY id");
    this.store = storeOf(this.#db);
  }

  select<T>(sql: string): T[] {
    return this.#db.prepare(sql).all() as T[];
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#db.prepare(sql).run(...values);
  }

  /** Reverts what `work` edits. */
  async edited<T>(work: () => Promise<T>): Promise<T> {
    this.#db.exec("BEGIN");
    try {
      return await work();
    } finally {
      this.#db.exec("ROLLBACK");
    }
  }

  /** Everything that a reader could see of a row, by its position. */
  dump(): Map<number, { readonly name: string | null; readonly text: string }> {
    const rows = this.select<{ position: number; name: string | null; text: string }>(
      `SELECT CAST(e.position AS TEXT) AS position, CAST(s.name AS TEXT) AS name, concat_ws('|', quote(e.stream), quote(s.first_revision), quote(s.name),
         quote(e.revision), quote(e.id), quote(e.created), quote(e.body)) AS text
       FROM events e LEFT JOIN streams s ON s.id = e.stream`,
    );
    return new Map(rows.map(({ position, ...row }) => [Number(position), row]));
  }

  close(): void {
    this.#db.close();
  }
}

/** The driver's main-thread side over its reader's queries, without the worker thread. */
const storeOf = (db: DatabaseSync): EventStore => {
  const [readStreamPage, readLogPage, readEvent] = [streamPages(db), logPages(db), eventAt(db)];
  const response = (kind: keyof ReaderProtocol, request: unknown): unknown => {
    if (kind === "stream") return readStreamPage(request as StreamRequest);
    if (kind === "event") return readEvent(request as number);
    return readLogPage(request as LogRequest);
  };
  const call = async (kind: keyof ReaderProtocol, request: unknown): Promise<unknown> => {
    if (kind === "log" && (request as LogRequest).wait) return await new Promise(() => {});
    try {
      return response(kind, request);
    } catch (cause) {
      throw new EventStoreUnavailable(`the event store failed: ${(cause as Error).message}`, { cause });
    }
  };
  const reader = { call, post: () => {} } as unknown as WorkerClient<ReaderProtocol>;
  const refuse = () => Promise.reject(new TypeError("an edited log is read only"));
  return {
    append: refuse,
    setRetention: refuse,
    deleteStream: refuse,
    readStream: (stream, options) => readStream(reader, stream, options),
    eventAt: async (position) => {
      const json = await reader.call("event", position);
      return json === undefined ? undefined : JSON.parse(json);
    },
    subscribe: openSubscriptions(reader).subscribe,
    ping: async () => {},
    checkIntegrity: async () => {
      const damage = findDamage(db);
      if (damage !== undefined) throw new EventStoreDamaged(damage);
    },
    close: async () => {},
  };
};
