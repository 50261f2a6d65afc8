import { isWellFormed } from "../../src/domain/event-shapes.ts";

interface Event {
  readonly stream: string;
  readonly type: string;
  readonly data: object;
}

/**
 * Members by type and path (`SynthesisServed.idempotency.key`): those that an event has, those that
 * it lacks.
 */
export interface Members {
  readonly given: ReadonlySet<string>;
  readonly absent: ReadonlySet<string>;
}

/**
 * Members of a list, and of an object whose members are named by index, have no paths of their own.
 */
const isIndex = (name: string | symbol): boolean => /^\d+$/.test(String(name));

/**
 * Finds out which members the check of an event's shape reads, by giving it data that reports every
 * access.
 */
export const membersRead = (events: readonly Event[]): Members => {
  const given = new Set<string>();
  const absent = new Set<string>();
  const watched = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) return value.map((element) => watched(element, path));
    if (typeof value !== "object" || value === null) return value;
    return new Proxy(value, {
      get: (target, name) => {
        const inner: unknown = Reflect.get(target, name);
        if (isIndex(name)) return watched(inner, path);
        const member = `${path}.${String(name)}`;
        (inner === undefined ? absent : given).add(member);
        return watched(inner, member);
      },
    });
  };
  for (const { stream, type, data } of events) {
    isWellFormed({ stream, type, data: watched(data, type), metadata: {} });
  }
  return { given, absent };
};

/** True if every event of the type stays well formed without this member. */
export const isOptional = (events: readonly Event[], member: string): boolean => {
  const [type, ...path] = member.split(".");
  const withMember = events.filter((event) => event.type === type);
  return withMember.every(({ stream, data }) =>
    isWellFormed({ stream, type, data: without(data, path), metadata: {} }),
  );
};

const without = (value: unknown, [name, ...rest]: readonly string[]): unknown => {
  if (name === undefined || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => without(element, [name, ...rest]));
  if (Object.keys(value).some(isIndex))
    return mapValues(value, (element) => without(element, [name, ...rest]));
  const { [name]: inner, ...others } = value as Record<string, unknown>;
  return rest.length === 0 || inner === undefined ? others : { ...others, [name]: without(inner, rest) };
};

const mapValues = (value: object, map: (element: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(value).map(([name, element]) => [name, map(element)]));
