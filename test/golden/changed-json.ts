import { isList, type Json } from "./openapi-structure.ts";

type Place = readonly string[];

/** The way to every member of every object and list within the value. */
export const placesIn = (value: Json): Place[] =>
  Object.entries(inner(value)).flatMap(([name, one]) => [
    [name],
    ...placesIn(one).map((place) => [name, ...place]),
  ]);

/**
 * The value with one member removed or changed: a leaf to another one of its type, a list or an
 * object to have one more member.
 */
export const changedAt = (value: Json, [name = "", ...rest]: Place, isRemoved: boolean): Json => {
  const { [name]: member = null, ...others } = inner(value);
  const next =
    rest.length === 0
      ? isRemoved
        ? []
        : [[name, changed(member)]]
      : [[name, changedAt(member, rest, isRemoved)]];
  const members = { ...others, ...Object.fromEntries(next) };
  return isList(value) ? Object.values(members) : members;
};

const inner = (value: Json): Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, Json>>) : {};

const changed = (value: Json): Json => {
  if (typeof value === "string") return `${value}.`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (value === null) return "null";
  return isList(value) ? [...value, "x"] : { ...value, x: {} };
};
