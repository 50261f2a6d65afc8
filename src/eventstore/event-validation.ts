/** What every log keeps as it is given, checked before anything is sent to it. */
import type { NewEvent, Retention } from "./event-store.ts";

export const maxEventBytes = 1024 * 1024;
const maxNameLength = 1024;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** @throws {TypeError} when the log cannot keep such a name as it is. */
export const validateStreamName = (name: string): void => {
  // SQLite ends a text at a NUL in places, and UTF-8 has no lone surrogates.
  if (name.length === 0 || name.length > maxNameLength || name.includes("\0") || !name.isWellFormed()) {
    throw new TypeError(`a stream's name has 1 to ${maxNameLength} characters, well-formed and without NUL`);
  }
};

/** The ids as the log keeps them. @throws {TypeError} when there is none, one is not a UUID or there twice. */
export const validateEventIds = (events: readonly NewEvent[]): string[] => {
  const ids = events.map(({ id }) => checkedId(id));
  if (ids.length === 0) throw new TypeError("an append needs an event");
  if (new Set(ids).size < ids.length) throw new TypeError("an append has the same event id twice");
  return ids;
};

const checkedId = (id: string): string => {
  if (!uuid.test(id)) throw new TypeError("an event's id is a UUID");
  return id.toLowerCase();
};

/** The JSON text of an event's data or metadata. @throws {TypeError} when it is no plain JSON object. */
export const stringifyObject = (value: object): string => {
  const text = JSON.stringify(value);
  if (text?.startsWith("{")) return text;
  throw new TypeError("an event's data and metadata are plain JSON objects");
};

/** @throws {RangeError} when a read's bounds are no natural numbers. */
export const validateReadBounds = (...bounds: readonly number[]): void => {
  for (const bound of bounds) {
    if (!Number.isSafeInteger(bound) || bound < 0) throw new RangeError("from and limit are natural numbers");
  }
};

/** @throws {RangeError} when nothing would be kept. */
export const validateRetention = ({ maxCount, maxAgeSeconds }: Retention): void => {
  if (maxCount !== undefined && !(Number.isSafeInteger(maxCount) && maxCount > 0)) {
    throw new RangeError("maxCount is a positive integer");
  }
  if (maxAgeSeconds !== undefined && !(Number.isFinite(maxAgeSeconds) && maxAgeSeconds > 0)) {
    throw new RangeError("maxAgeSeconds is a positive number");
  }
};
