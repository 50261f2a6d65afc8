import type { NewEvent } from "../event-store.ts";

const maxEventBytes = 1024 * 1024;
const maxNameLength = 1024;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Checks the events and writes each as the JSON text that the log keeps, in `AppendRequest`'s shape.
 * @throws {TypeError} when there is none, an id is not a UUID or there twice, or data or metadata is no JSON object.
 * @throws {RangeError} when an event has more than 1 MiB.
 */
export const toStored = (events: readonly NewEvent[]): { ids: string[]; bodies: string[]; bytes: number } => {
  const ids = events.map(({ id }) => checkedId(id));
  if (ids.length === 0) throw new TypeError("an append needs an event");
  if (new Set(ids).size < ids.length) throw new TypeError("an append has the same event id twice");
  const bodies = events.map(toBody);
  return { ids, bodies, bytes: bodies.reduce((sum, body) => sum + body.length, 0) };
};

/** @throws {TypeError} when the log cannot keep such a name as it is. */
export const checkStreamName = (name: string): void => {
  // SQLite ends a text at a NUL in places, and UTF-8 has no lone surrogates.
  if (name.length === 0 || name.length > maxNameLength || name.includes("\0") || !name.isWellFormed()) {
    throw new TypeError(`a stream's name has 1 to ${maxNameLength} characters, well-formed and without NUL`);
  }
};

const checkedId = (id: string): string => {
  if (!uuid.test(id)) throw new TypeError("an event's id is a UUID");
  return id.toLowerCase();
};

const toBody = ({ type, data, metadata }: NewEvent): string => {
  const body = `"type":${JSON.stringify(String(type))},"data":${object(data)},"metadata":${object(metadata)}`;
  // UTF-8 takes at most three bytes for a unit of UTF-16: short texts need no counting.
  if (body.length * 3 > maxEventBytes && Buffer.byteLength(body) > maxEventBytes) {
    throw new RangeError(`an event has at most ${maxEventBytes} bytes`);
  }
  return body;
};

const object = (value: object): string => {
  const text = JSON.stringify(value);
  if (text?.startsWith("{")) return text;
  throw new TypeError("an event's data and metadata are plain JSON objects");
};
