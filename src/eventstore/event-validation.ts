/** The rules that every driver applies before it sends anything to its log. */
import type { NewEvent, Retention } from "./event-store.ts";

export const maxEventBytes = 1024 * 1024;
const maxNameLength = 1024;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** @throws {TypeError} if no log can store the name unchanged */
export const validateStreamName = (name: string): void => {
  // Some SQLite functions end a text at NUL, and UTF-8 cannot encode lone surrogates.
  if (name.length === 0 || name.length > maxNameLength || name.includes("\0") || !name.isWellFormed()) {
    throw new TypeError(
      `a stream name must be well-formed, without NUL, of 1 to ${maxNameLength} characters`,
    );
  }
};

/**
 * @throws {TypeError} if the store was opened for reading, or no log can store the stream's name
 */
export const validateWrite = (stream: string, readOnly: boolean): void => {
  if (readOnly) throw new TypeError("the event store was opened for reading");
  validateStreamName(stream);
};

/**
 * The events' ids, in lower case.
 * @throws {TypeError} if there is no event, or an id is not a UUID or occurs twice
 */
export const validateEventIds = (events: readonly NewEvent[]): string[] => {
  if (events.length === 0) throw new TypeError("an append needs at least one event");
  if (!events.every(({ id }) => uuid.test(id))) throw new TypeError("an event id must be a UUID");
  const ids = events.map(({ id }) => id.toLowerCase());
  if (new Set(ids).size < ids.length) throw new TypeError("an append must not contain an event id twice");
  return ids;
};

/**
 * The JSON of an event's data or metadata.
 * @throws {TypeError} if it is not a plain JSON object
 */
export const stringifyObject = (value: object): string => {
  const text = JSON.stringify(value);
  if (text?.startsWith("{")) return text;
  throw new TypeError("an event's data and metadata must be plain JSON objects");
};

/** @throws {RangeError} */
export const validateReadBounds = (fromInclusive: number, limit: number): void => {
  for (const bound of [fromInclusive, limit]) {
    if (!Number.isSafeInteger(bound) || bound < 0)
      throw new RangeError("fromInclusive and limit must be natural numbers");
  }
};

/** @throws {RangeError} */
export const validateRetention = ({ maxCount, maxAgeSeconds }: Retention): void => {
  if (maxCount !== undefined && !(Number.isSafeInteger(maxCount) && maxCount > 0)) {
    throw new RangeError("maxCount must be a positive integer");
  }
  if (maxAgeSeconds !== undefined && !(Number.isFinite(maxAgeSeconds) && maxAgeSeconds > 0)) {
    throw new RangeError("maxAgeSeconds must be a positive number");
  }
};
