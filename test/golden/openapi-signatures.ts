import { createHash } from "node:crypto";
import { isList, type Json, structureOf } from "./openapi-structure.ts";

type Members = Readonly<Record<string, Json>>;

/**
 * An OpenAPI document as lines: one for each operation and component, and one for each other member
 * of the document. A line is a signature, then two digests: `#` of all but the prose, `~` of the
 * whole. A change that the signature does not show changes a digest.
 */
export const signaturesOf = (document: Json): string => {
  const { paths, components, ...others } = membersOf(sorted(document));
  const operations = Object.entries(membersOf(paths)).flatMap(([path, item]) =>
    Object.entries(membersOf(item)).map(([method, operation]) =>
      lineOf(`${method.toUpperCase()} ${path}`, operation, signatureOf(membersOf(operation))),
    ),
  );
  const named = Object.entries(membersOf(components)).flatMap(([kind, all]) =>
    Object.entries(membersOf(all)).map(([name, one]) =>
      lineOf(`${kind} ${name}`, one, componentOf(kind, one)),
    ),
  );
  const rest = Object.entries(others).map(([name, value]) => lineOf(name, value, ""));
  return [...rest.sort(), "", ...operations.sort(), "", ...named.sort(), ""].join("\n");
};

const lineOf = (name: string, value: Json, signature: string): string =>
  `${name} ${signature}${signature && " "}#${digest(structureOf(value))} ~${digest(value)}`;

export const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

const digest = (value: Json): string => digestOf(JSON.stringify(value));

/** The order of an object's members is no part of the interface. */
const sorted = (value: Json): Json => {
  if (isList(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, sorted(one)]),
  );
};

/** `?name` is a parameter of the query, `name?` an optional one. */
const signatureOf = ({ parameters, requestBody, responses, security, deprecated }: Members): string => {
  const body = membersOf(requestBody);
  const parts = [
    deprecated && "deprecated",
    ...listOf(parameters).map(parameterOf),
    body.content && `body${optional(body.required)} ${contentOf(body.content)}`,
    `-> ${Object.entries(membersOf(responses))
      .map(([status, one]) => `${status} ${responseOf(one)}`)
      .join(", ")}`,
    `[${listOf(security)
      .map((one) => Object.keys(membersOf(one)).join("+") || "none")
      .join(" ")}]`,
  ];
  return parts.filter(Boolean).join(" ");
};

const componentOf = (kind: string, component: Json): string => {
  if (kind === "schemas") return typeOf(component);
  return kind === "responses" ? responseOf(component) : "";
};

const parameterOf = (parameter: Json): string => {
  const { in: place, name, required, schema } = membersOf(parameter);
  return `${place === "query" ? "?" : `${place}:`}${name}${optional(required)}: ${typeOf(schema)};`;
};

const responseOf = (response: Json): string => {
  const { $ref, content, headers } = membersOf(response);
  if ($ref) return lastOf($ref);
  const names = Object.entries(membersOf(headers)).map(
    ([name, header]) => name + optional(membersOf(header).required),
  );
  return [content && contentOf(content), `{${names.join(" ")}}`].filter(Boolean).join(" ");
};

const contentOf = (content: Json): string =>
  Object.entries(membersOf(content))
    .map(([type, media]) => {
      const { schema } = membersOf(media);
      return schema === undefined ? type : `${type}: ${typeOf(schema)}`;
    })
    .join(" | ");

const optional = (required: Json | undefined): string => (required ? "" : "?");

const lastOf = (reference: Json): string => String(reference).replace(/.*\//, "");

/** A JSON Schema in the notation of TypeScript, with ranges and defaults. */
const typeOf = (schema: Json | undefined): string => {
  const members = membersOf(schema);
  const { default: ofAbsent } = members;
  return (
    baseOf(members) + boundsOf(members) + (ofAbsent === undefined ? "" : ` = ${JSON.stringify(ofAbsent)}`)
  );
};

const baseOf = (schema: Members): string => {
  if (schema.$ref) return lastOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum)
    return listOf(schema.enum)
      .map((one) => JSON.stringify(one))
      .join("|");
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return `(${listOf(alternatives).map(typeOf).join(" | ")})`;
  if (schema.allOf) return listOf(schema.allOf).map(typeOf).join(" & ");
  if (schema.type === "array") return `${typeOf(schema.items)}[]`;
  if (schema.type === "object") return objectOf(schema);
  return String(schema.format ?? schema.type ?? "any");
};

const objectOf = ({ properties, required, additionalProperties }: Members): string => {
  const needed = new Set(listOf(required));
  const members = Object.entries(membersOf(properties)).map(
    ([name, one]) => `${name}${needed.has(name) ? "" : "?"}: ${typeOf(one)}`,
  );
  if (additionalProperties) members.push(`*: ${typeOf(additionalProperties)}`);
  return `{${members.join(", ")}}`;
};

const boundsOf = (schema: Members): string => {
  const low = schema.minimum ?? schema.minLength ?? schema.minItems;
  const maximum = schema.maximum === Number.MAX_SAFE_INTEGER ? "" : schema.maximum;
  const high = maximum ?? schema.maxLength ?? schema.maxItems;
  const range = low === undefined && high === undefined ? "" : ` ${low ?? ""}..${high ?? ""}`;
  return range + (schema.pattern ? ` /${schema.pattern}/` : "");
};

const membersOf = (value: Json | undefined): Members =>
  typeof value === "object" && value !== null && !isList(value) ? (value as Members) : {};

const listOf = (value: Json | undefined): readonly Json[] =>
  value !== undefined && isList(value) ? value : [];
