import { hash } from "node:crypto";

/**
 * The value contains a number that JSON would write like another value: `-0` like 0, and `Infinity`
 * like null. RFC 8785 has no form for `Infinity`, to which JavaScript parses `1e999`.
 */
export class NotCanonical extends Error {
  override readonly name = "NotCanonical";
}

/**
 * JSON with sorted member names and without white space (RFC 8785, for objects, strings, integers,
 * booleans and null). Values that readers could tell apart have different forms.
 * @throws {NotCanonical}
 */
export const canonicalJson = (value: unknown): string => {
  if (isInCanonicalOrder(value)) return JSON.stringify(value) ?? "null";
  return writeSorted(value, canonicalJson);
};

/**
 * The canonical form of what a store contains. Other programs' events may have numbers that no
 * canonical form has: `-0`, and `1e999` for what JavaScript reads as infinity. They are written so
 * that they are read again.
 */
export const storedJson = (value: unknown): string => {
  try {
    return canonicalJson(value);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return writeStored(value);
  }
};

const writeStored = (value: unknown): string => {
  if (Object.is(value, -0)) return "-0";
  if (value === Number.POSITIVE_INFINITY) return "1e999";
  if (value === Number.NEGATIVE_INFINITY) return "-1e999";
  if (typeof value !== "object" || value === null) return canonicalJson(value);
  return writeSorted(value, writeStored);
};

const writeSorted = (value: unknown, write: (member: unknown) => string): string => {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  const members = Object.entries(value as object)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`);
  return `{${members.join(",")}}`;
};

/**
 * True if `JSON.stringify` writes the canonical form. This check and `JSON.stringify` together are
 * much faster than sorting.
 * @throws {NotCanonical}
 */
const isInCanonicalOrder = (value: unknown): boolean => {
  if (typeof value === "number") requireCanonical(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    for (const element of value) {
      if (typeof element === "number") requireCanonical(element);
      else if (typeof element === "object" && !isInCanonicalOrder(element)) return false;
    }
    return true;
  }
  let previous = "";
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (typeof member === "number") requireCanonical(member);
    if (name < previous || (typeof member === "object" && !isInCanonicalOrder(member))) return false;
    previous = name;
  }
  return true;
};

const requireCanonical = (value: number): void => {
  if (!Number.isFinite(value) || Object.is(value, -0)) {
    throw new NotCanonical(`the number ${Object.is(value, -0) ? "-0" : value} has no canonical form`);
  }
};

/** The value with its members in canonical order, in which exports have them. */
export const inCanonicalOrder = <T>(value: T): T => {
  try {
    if (isInCanonicalOrder(value)) return value;
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
  }
  return JSON.parse(storedJson(value)) as T;
};

interface TypedEvent {
  readonly type: string;
  readonly data: object;
}

/** The canonical form of an event. */
export const canonicalEvent = ({ type, data }: TypedEvent): string => canonicalJson({ data, type });

/** SHA-256 (hex) of an event's canonical form, which links it to its successor in a journal. */
export const eventDigest = (event: TypedEvent): string => hash("sha256", canonicalEvent(event));

/** SHA-256 (hex) over the canonical forms of the events, in order. */
export const digestOfEvents = (events: readonly TypedEvent[]): string =>
  hash("sha256", events.map(canonicalEvent).join(""));
