/**
 * Type checks that are cheap enough for every event of a replay. Additional members are allowed.
 * The annotations let bundlers omit unused shapes
 * (https://esbuild.github.io/api/#ignore-annotations).
 */
export type Check<T = unknown> = (value: unknown) => value is T;

export const text = (value: unknown): value is string => typeof value === "string";
export const boolean = (value: unknown): value is boolean => typeof value === "boolean";
export const number = (value: unknown): value is number => Number.isFinite(value);

/** A boolean that is never written as false. */
export const flag = boolean as Check<true>;

/**
 * A text of a known set. Its value is not checked: an older instance must not skip the events of a
 * newer one.
 */
export const code = /* @__NO_SIDE_EFFECTS__ */ <T extends string>(): Check<T> => text as Check<T>;

/** A safe integer, positive or negative. */
export const integer = (value: unknown): value is number => Number.isSafeInteger(value);

/** A safe integer of at least 0. */
export const count = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

const iso8601 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;

/** ISO 8601 in UTC: its prefixes are the day and the month. */
export const utcTime = (value: unknown): value is string => typeof value === "string" && iso8601.test(value);

/** A JSON object, not an array and not bytes. */
export const anyObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);

export const optional =
  /* @__NO_SIDE_EFFECTS__ */
    <T>(check: Check<T>) =>
    (value: unknown): value is T | undefined =>
      value === undefined || check(value);

export const nullable =
  /* @__NO_SIDE_EFFECTS__ */
    <T>(check: Check<T>) =>
    (value: unknown): value is T | null =>
      value === null || check(value);

export const listOf =
  /* @__NO_SIDE_EFFECTS__ */
    <T>(check: Check<T>) =>
    (value: unknown): value is readonly T[] =>
      Array.isArray(value) && value.every(check);

/** A JSON object whose members all pass the check. */
export const record =
  /* @__NO_SIDE_EFFECTS__ */
    <T>(check: Check<T>) =>
    (value: unknown): value is Readonly<Record<string, T>> =>
      anyObject(value) && Object.values(value).every(check);

/** A check for each member of an object. */
export type Members = Readonly<Record<string, Check>>;

/** A check for each member of `T`, the optional ones included. */
export type MembersOf<T> = { readonly [Name in keyof T]-?: Check<T[Name] | undefined> };

/** The type of the values that pass. */
export type Checked<C> = C extends Check<infer T> ? T : never;

/** The type of the objects whose members pass. Members whose check is `optional` are optional. */
export type DataOf<M> = Flat<
  { readonly [Name in keyof M as undefined extends Checked<M[Name]> ? never : Name]: Checked<M[Name]> } & {
    readonly [Name in keyof M as undefined extends Checked<M[Name]> ? Name : never]?: Exclude<
      Checked<M[Name]>,
      undefined
    >;
  }
>;

type Flat<T> = { [Name in keyof T]: T[Name] };

export const object = /* @__NO_SIDE_EFFECTS__ */ <M extends Members>(members: M): Check<DataOf<M>> => {
  const names = Object.keys(members);
  const checks = Object.values(members);
  return (value): value is DataOf<M> => {
    if (!anyObject(value)) return false;
    for (let i = 0; i < names.length; i++) {
      if (!(checks[i] as Check)(value[names[i] as string])) return false;
    }
    return true;
  };
};

export interface TypedEvent {
  readonly type: string;
  readonly data: unknown;
}

/** The events of these shapes: the members of their data by their types. */
export type EventOf<Shapes> = {
  [Type in keyof Shapes]: { readonly type: Type; readonly data: DataOf<Shapes[Type]> };
}[keyof Shapes];

/** A check of an event's data by its type. The data of any other type must be a JSON object. */
export const createShapeCheck = /* @__NO_SIDE_EFFECTS__ */ (
  shapes: Readonly<Record<string, Members>>,
): ((event: TypedEvent) => boolean) => {
  const checks = new Map<string, Check>(
    Object.entries(shapes).map(([type, members]) => [type, object(members)]),
  );
  return ({ type, data }) => (checks.get(type) ?? anyObject)(data);
};
