export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The members of OpenAPI and JSON Schema that hold prose. */
const texts = new Set(["description", "summary", "title"]);

/** The members whose own members are names that the API chose, not keywords. */
const maps = new Set([
  ...["paths", "responses", "parameters", "headers", "schemas", "securitySchemes", "requestBodies"],
  ...["examples", "properties", "patternProperties", "$defs", "links", "callbacks", "content", "encoding"],
  ...["scopes", "variables", "mapping"],
]);

/** The members that hold values of the API's, not descriptions of it. */
const values = new Set(["example", "default", "const", "enum", "value"]);

/**
 * An OpenAPI document without its prose, every object's members in alphabetical order. Of examples
 * it keeps the shape and the codes; their messages are prose.
 */
export const structureOf = (document: Json): Json => keywords(document);

const keywords = (value: Json): Json =>
  mapMembers(value, keywords, (name, inner) => {
    if (texts.has(name)) return undefined;
    // In a schema, `examples` is a list of values.
    if (values.has(name) || (name === "examples" && Array.isArray(inner))) return withoutMessages(inner);
    return maps.has(name) ? mapMembers(inner, keywords, (_name, one) => keywords(one)) : keywords(inner);
  });

const withoutMessages = (value: Json): Json =>
  mapMembers(value, withoutMessages, (name, inner) =>
    name === "message" && typeof inner === "string" ? "…" : withoutMessages(inner),
  );

const mapMembers = (
  value: Json,
  element: (value: Json) => Json,
  member: (name: string, value: Json) => Json | undefined,
): Json => {
  if (isList(value)) return value.map(element);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.keys(value)
    .sort()
    .map((name) => [name, member(name, value[name] ?? null)] as const);
  return Object.fromEntries(
    entries.filter((entry): entry is readonly [string, Json] => entry[1] !== undefined),
  );
};

export const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
