/**
 * Type checks that are cheap enough for every event of a replay. Additional members are allowed. The annotations let bundlers
 * omit unused shapes (https://esbuild.github.io/api/#ignore-annotations).
 */
export type Check = (value: unknown) => boolean;

export const text: Check = (value) => typeof value === "string";
export const boolean: Check = (value) => typeof value === "boolean";
export const number: Check = (value) => Number.isFinite(value);

/** A safe integer, positive or negative. */
export const integer: Check = (value) => Number.isSafeInteger(value);

/** A safe integer of at least 0. */
export const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;

const iso8601 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** ISO 8601 in UTC: its prefixes are the day and the month. */
export const utcTime: Check = (value) => typeof value === "string" && iso8601.test(value);

/** A JSON object, not an array and not bytes. */
export const anyObject: Check = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

export const optional =
  /* @__NO_SIDE_EFFECTS__ */
    (check: Check): Check =>
    (value) =>
      value === undefined || check(value);

export const nullable =
  /* @__NO_SIDE_EFFECTS__ */
    (check: Check): Check =>
    (value) =>
      value === null || check(value);

export const listOf =
  /* @__NO_SIDE_EFFECTS__ */
    (check: Check): Check =>
    (value) =>
      Array.isArray(value) && value.every(check);

/** A JSON object whose members all pass the check. */
export const record =
  /* @__NO_SIDE_EFFECTS__ */
    (check: Check): Check =>
    (value) =>
      anyObject(value) && Object.values(value as object).every(check);

/** A check for each member of `T`, the optional ones included. */
export type Members<T> = { readonly [Name in keyof T]-?: Check };

export const object = /* @__NO_SIDE_EFFECTS__ */ <T>(members: Members<T>): Check => {
  const names = Object.keys(members);
  const checks = Object.values<Check>(members);
  return (value) => {
    if (!anyObject(value)) return false;
    const found = value as Readonly<Record<string, unknown>>;
    for (let i = 0; i < names.length; i++) {
      if (!(checks[i] as Check)(found[names[i] as string])) return false;
    }
    return true;
  };
};

export interface TypedEvent {
  readonly type: string;
  readonly data: unknown;
}

/** The shapes of these event types, all of them, with all their members. */
export type ShapesOf<Event extends { readonly type: string; readonly data: object }> = {
  readonly [E in Event as E["type"]]: Members<E["data"]>;
};

/** A check of an event's data by its type. The data of any other type must be a JSON object. */
export const createShapeCheck = /* @__NO_SIDE_EFFECTS__ */ (
  shapes: Readonly<Record<string, Members<object>>>,
): ((event: TypedEvent) => boolean) => {
  const checks = new Map(Object.entries(shapes).map(([type, members]) => [type, object(members)]));
  return ({ type, data }) => (checks.get(type) ?? anyObject)(data);
};
