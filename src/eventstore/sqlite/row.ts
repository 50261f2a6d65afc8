import type { DatabaseSync, SQLInputValue } from "node:sqlite";

/** Prepares a query that finds one row or none. */
export const optional = <Row>(db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql);
  return (...values: SQLInputValue[]): Row | undefined => statement.get(...values) as Row | undefined;
};

/** Prepares a query that always finds a row, such as an aggregate. */
export const required = <Row>(db: DatabaseSync, sql: string) => {
  const statement = db.prepare(sql);
  return (...values: SQLInputValue[]): Row => statement.get(...values) as unknown as Row;
};
