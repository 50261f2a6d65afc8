import { DatabaseSync } from "node:sqlite";
import { uuidv7 } from "../../src/eventstore/uuid.ts";

export interface BareEvent {
  readonly stream: number;
  readonly data: { readonly requestId: string };
}

/**
 * A minimal event log: the same columns, indexes and durability, without any validation or
 * decision.
 */
export const openBareLog = (path: string) => {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
    CREATE TABLE events (position INTEGER PRIMARY KEY AUTOINCREMENT, stream INTEGER NOT NULL, revision INTEGER NOT NULL,
      id TEXT NOT NULL UNIQUE, created INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (stream, revision)) STRICT`);
  const statement = db.prepare(
    "INSERT INTO events (stream, revision, id, created, body) VALUES (?, ?, ?, ?, ?)",
  );
  const revisions = new Map<number, number>();

  const insertOne = ({ stream, data }: BareEvent, now: number): void => {
    const revision = (revisions.get(stream) ?? -1) + 1;
    revisions.set(stream, revision);
    const metadata = { correlationId: data.requestId, actor: "key:k1" };
    const body = JSON.stringify({ type: "IdempotencyKeyUsed", data, metadata });
    statement.run(stream, revision, uuidv7(now), now, body);
  };

  return {
    /** Inserts the events in one transaction. */
    insert(events: readonly BareEvent[]): void {
      const now = Date.now();
      db.exec("BEGIN IMMEDIATE");
      for (const event of events) insertOne(event, now);
      db.exec("COMMIT");
    },
    close: () => db.close(),
  };
};
