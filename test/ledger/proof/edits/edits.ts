import fc from "fast-check";
import type { EditedLog } from "./edited-log.ts";

const columns = ["position", "stream", "revision", "id", "created", "body"] as const;

/**
 * An edit of a log's file. Numbers that choose a row, a place or a text are taken modulo the number
 * of them.
 */
export type Edit =
  | {
      readonly kind: "bytes";
      readonly row: number;
      readonly at: number;
      readonly length: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: "token"; readonly row: number; readonly token: number; readonly text: string }
  | {
      readonly kind: "column";
      readonly row: number;
      readonly column: (typeof columns)[number];
      readonly value: Value;
    }
  | { readonly kind: "delete"; readonly row: number; readonly count: number }
  | {
      readonly kind: "copy";
      readonly row: number;
      readonly position: number;
      readonly stream: number;
      readonly revision: number;
    }
  | {
      readonly kind: "swap";
      readonly row: number;
      readonly other: number;
      readonly column: (typeof columns)[number];
    }
  | {
      readonly kind: "phantom";
      readonly row: number;
      readonly stream: number;
      readonly event: string;
      readonly next: string;
    }
  | { readonly kind: "append"; readonly stream: number; readonly event: string }
  | {
      readonly kind: "stream";
      readonly stream: number;
      readonly column: "name" | "first_revision" | "max_count";
      readonly value: Value;
    }
  | { readonly kind: "swap streams"; readonly stream: number; readonly other: number }
  | { readonly kind: "delete stream"; readonly stream: number };

type Value = null | number | bigint | string | Uint8Array;

/**
 * Spellings of values that a parser may read as others, or that end one value and begin another.
 */
const tokens = [
  ...'{}[],:"\\ \n\t\0'.split(""),
  ...["1e999", "-1e999", "-0", "0.0", "1.0", "1e0", "01", "0x1", "9007199254740993", "NaN", "Infinity", "5"],
  ...[
    "null",
    "true",
    "false",
    '""',
    "{}",
    "[]",
    '"\\u0041"',
    '"\\ud800"',
    '"k1"',
    '"k2"',
    '"2026-11-05T10:00:09.000Z"',
  ],
  ...[
    '{"sha256":"5ec2e7"}',
    '1,"more":1e999',
    '"x","__proto__":{"a":1}',
    '"x","at":"2026-11-05T10:00:09.000Z"',
  ],
  ...['"x","stream":"key-k1"', '"x","revision":0', '"x","position":1', '"x","id":"x"', "1}}", "1/**/", "1,2"],
];

const at = "2026-11-05T12:00:00.000Z";
const plan = { tier: "enterprise", requestsPerMinute: 1_000_000, monthlyCharacters: null };
/** What an attacker would like to have in the log: members of an event, without braces. */
const wishes = [
  { type: "SecretCreated", data: { secretId: "sx", hash: "badbad", at } },
  { type: "PlanChanged", data: { plan, at } },
  { type: "KeyReinstated", data: { reason: "none", at } },
  { type: "KeyIssued", data: { apiKey: "k9", websiteId: "web_1", plan, at } },
  { type: "OriginsChanged", data: { origins: ["https://evil.example"], at } },
  {
    type: "AccountClosed",
    data: { requests: 0, characters: 0, voided: { requests: 0, characters: 0 }, digest: "", at },
  },
  { type: "WebhookRemoved", data: { webhookId: "whk_1", at } },
  { type: "MasterKeyRecorded", data: { keyId: "x", at } },
  { type: "RequestsCounted", data: { minute: 1, keys: ["k1"], counts: [0], at } },
].map((event) => JSON.stringify({ ...event, metadata: {} }).slice(1, -1));

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.constantFrom(
    null,
    "",
    "1",
    "key-k1",
    '"},{"type":"SecretCreated',
    1.5,
    2n ** 53n,
    2n ** 63n - 1n,
    -(2n ** 63n),
  ),
  fc.integer({ min: -3, max: 80 }),
  fc.uint8Array({ maxLength: 3 }),
);
const index = fc.nat(9_999);
const column = fc.constantFrom(...columns);
const wish = fc.constantFrom(...wishes);

export const anyEdit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("bytes" as const),
      row: index,
      at: index,
      length: fc.nat(3),
      bytes: fc.uint8Array({ maxLength: 2 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("token" as const),
      row: index,
      token: index,
      text: fc.constantFrom(...tokens),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("column" as const), row: index, column, value }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("delete" as const),
      row: index,
      count: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("copy" as const),
      row: index,
      position: fc.integer({ min: -2, max: 120 }),
      stream: index,
      revision: fc.integer({ min: -1, max: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("swap" as const), row: index, other: index, column }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("phantom" as const),
      row: index,
      stream: index,
      event: wish,
      next: wish,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("append" as const), stream: index, event: wish }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("stream" as const),
      stream: index,
      column: fc.constantFrom("name" as const, "first_revision" as const, "max_count" as const),
      value,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("swap streams" as const), stream: index, other: index }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete stream" as const), stream: index }) },
);

const pick = <T>(list: readonly T[], number: number): T => list[number % list.length] as T;

const jsonToken = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

/** Replaces some bytes, or one value or sign of the JSON. */
export const editText = (text: string, edit: Extract<Edit, { kind: "bytes" | "token" }>): Buffer => {
  if (edit.kind === "token") {
    const { index, 0: token } = pick([...text.matchAll(jsonToken)], edit.token);
    return Buffer.from(text.slice(0, index) + edit.text + text.slice(index + token.length));
  }
  const bytes = Buffer.from(text);
  const start = edit.at % bytes.length;
  return Buffer.concat([bytes.subarray(0, start), edit.bytes, bytes.subarray(start + edit.length)]);
};

export const applyEdit = (log: EditedLog, edit: Edit): void => {
  const setBody = (position: number, body: string | Uint8Array): void =>
    log.run("UPDATE events SET body = CAST(? AS TEXT) WHERE position = ?", body, position);

  switch (edit.kind) {
    case "bytes":
    case "token": {
      const { position, body } = pick(log.rows, edit.row);
      setBody(position, editText(body, edit));
      return;
    }
    case "column": {
      const { position } = pick(log.rows, edit.row);
      // A row's position is its key, which is always an integer.
      const to = edit.column === "position" ? "ifnull(CAST(? AS INTEGER), 0)" : "?";
      log.run(`UPDATE OR REPLACE events SET ${edit.column} = ${to} WHERE position = ?`, edit.value, position);
      return;
    }
    case "delete": {
      const { position } = pick(log.rows, edit.row);
      log.run("DELETE FROM events WHERE position >= ? AND position < ?", position, position + edit.count);
      return;
    }
    case "copy": {
      const { id, created, body } = pick(log.rows, edit.row);
      const stream = pick(log.streams, edit.stream).id;
      log.run(
        "REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?)",
        edit.position,
        stream,
        edit.revision,
        id,
        created,
        body,
      );
      return;
    }
    case "swap": {
      const [row, other] = [pick(log.rows, edit.row), pick(log.rows, edit.other)];
      const set = `UPDATE events SET ${edit.column} = ? WHERE position = ?`;
      if (edit.column === "position") {
        log.run(set, -1, row.position);
        log.run(set, row.position, other.position);
        log.run(set, other.position, -1);
      } else {
        log.run(set, row[edit.column], other.position);
        log.run(set, other[edit.column], row.position);
      }
      return;
    }
    case "phantom": {
      const { position, body } = pick(log.rows, edit.row);
      const place = `"id":"7d3f0a53-0000-4000-8000-000000000000","stream":${JSON.stringify(pick(log.streams, edit.stream).name)},"revision":2,"position":${position},"created":1`;
      setBody(position, `${body},${place}},{${edit.event},${place}},{${edit.next}`);
      return;
    }
    case "append": {
      const { id } = pick(log.streams, edit.stream);
      log.run(
        `INSERT INTO events SELECT max(position) + 1, ?, (SELECT ifnull(max(revision), -1) + 1 FROM events WHERE stream = ?), ?,
         max(created), ? FROM events`,
        id,
        id,
        "7d3f0a53-0000-4000-8000-000000000001",
        edit.event,
      );
      return;
    }
    case "stream":
      log.run(
        `UPDATE streams SET ${edit.column} = ? WHERE id = ?`,
        edit.value,
        pick(log.streams, edit.stream).id,
      );
      return;
    case "swap streams": {
      const [stream, other] = [pick(log.streams, edit.stream), pick(log.streams, edit.other)];
      log.run("UPDATE streams SET name = ? WHERE id = ?", stream.name, other.id);
      log.run("UPDATE streams SET name = ? WHERE id = ?", other.name, stream.id);
      return;
    }
    case "delete stream":
      log.run("DELETE FROM streams WHERE id = ?", pick(log.streams, edit.stream).id);
      return;
  }
};
