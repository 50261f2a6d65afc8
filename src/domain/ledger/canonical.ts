import { hash } from "node:crypto";

/** JSON with sorted member names and without white space (RFC 8785, for objects, strings, integers, booleans and null). */
export const canonicalJson = (value: unknown): string => {
  if (isInCanonicalOrder(value)) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value as object)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
};

/** True if `JSON.stringify` writes the canonical form: this check and the native code are much faster than sorting. */
const isInCanonicalOrder = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) {
    for (const element of value)
      if (typeof element === "object" && !isInCanonicalOrder(element)) return false;
    return true;
  }
  let previous = "";
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (name < previous || (typeof member === "object" && !isInCanonicalOrder(member))) return false;
    previous = name;
  }
  return true;
};

/** SHA-256 (hex) of an event's canonical form, which links it to its successor in a journal. */
export const eventDigest = ({ type, data }: { readonly type: string; readonly data: object }): string =>
  hash("sha256", canonicalJson({ data, type }));
