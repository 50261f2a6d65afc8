import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Received, Sent } from "../support/exchange.ts";

/** The parts of an OpenAPI document that responses are validated against. */
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly responses?: Readonly<Record<string, Response>> };
}
export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { schema: object; example?: unknown }>>;
  };
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}
interface Response {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: object }>>;
  readonly content?: Readonly<Record<string, { readonly schema?: object; readonly example?: unknown }>>;
}

/** Validates responses against the document, and records which of its responses were seen. */
export interface HttpContract {
  /** The differences between the response and the document. */
  deviations(sent: Sent, received: Received): string[];
  /** The documented responses that were never seen, such as `GET /health 503`. */
  unseen(): string[];
}

/** The end of a difference about an undocumented operation. */
export const undescribed = "for what is not described";

/** Headers of HTTP framing and CORS, which the document omits. */
const framing =
  /^(connection|content-encoding|content-length|content-type|date|keep-alive|transfer-encoding|vary|access-control-.*)$/;

export const createHttpContract = (document: Described): HttpContract => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validators = new Map<object, ValidateFunction>();
  const seen = new Set<string>();

  const violations = (schema: object, value: unknown): string[] => {
    const validate = validators.get(schema) ?? ajv.compile({ ...schema, components: document.components });
    validators.set(schema, validate);
    return validate(value) ? [] : [ajv.errorsText(validate.errors)];
  };

  const headerDeviations = ({ headers: described = {} }: Response, { headers }: Received): string[] => {
    const names = new Map(Object.keys(described).map((name) => [name.toLowerCase(), name]));
    const unknown = Object.keys(headers).filter((name) => !names.has(name) && !framing.test(name));
    return [
      ...unknown.map((name) => `the header ${name} is not described`),
      ...Object.entries(described).flatMap(([name, { required, schema }]) => {
        const value = headers[name.toLowerCase()];
        if (value === undefined) return required ? [`the header ${name} is missing`] : [];
        return violations(schema, value).map((what) => `the header ${name}: ${what}`);
      }),
    ];
  };

  const bodyDeviations = ({ content }: Response, sent: Sent, { headers, body }: Received): string[] => {
    if (!content || sent.method === "HEAD") return body.length > 0 ? ["there is a body"] : [];
    const type = headers["content-type"]?.split(";")[0] ?? "";
    const described = content[headers["content-type"] ?? ""] ?? content[type];
    if (!described) return [`the type ${type || "(none)"} is not described`];
    const { schema } = described;
    if (body.length === 0) return ["there is no body"];
    if (!schema) return [];
    return valuesOf(type, body.toString()).flatMap((value) => violations(schema, value));
  };

  const errorDeviations = ({ method }: Sent, { status, body }: Received): string[] => {
    if (status < 400 || method === "HEAD" || !body.includes('"error"')) return [];
    const { error } = JSON.parse(body.toString());
    // The envelopes of other services' APIs have no status.
    return error.statusCode === undefined || error.statusCode === status
      ? []
      : [`the envelope says ${error.statusCode}`];
  };

  return {
    deviations: (sent, received) => {
      const found = find(document, sent);
      const { status } = received;
      if (!found) return [404, 405].includes(status) ? [] : [`${status} ${undescribed}`];
      const response = found.operation.responses[status];
      const place = `${found.method} ${found.path} ${status}`;
      if (!response) return [`${place} is not described`];
      seen.add(place);
      const described = resolve(document, response);
      return [
        ...headerDeviations(described, received),
        ...bodyDeviations(described, sent, received),
        ...errorDeviations(sent, received),
      ].map((what) => `${place}: ${what}`);
    },
    unseen: () =>
      operationsOf(document)
        .flatMap(({ method, path, operation }) =>
          Object.keys(operation.responses).map((status) => `${method} ${path} ${status}`),
        )
        .filter((place) => !seen.has(place)),
  };
};

export interface FoundOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export const operationsOf = ({ paths }: Described): FoundOperation[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );

/**
 * The operation of a request. Paths without parameters take precedence; HEAD may be documented as
 * GET.
 */
const find = (document: Described, { method, path }: Sent): FoundOperation | undefined => {
  const pathname = path.split("?")[0] ?? "";
  const fitting = operationsOf(document)
    .filter((found) => patternOf(found.path).test(pathname))
    .sort((a, b) => a.path.split("{").length - b.path.split("{").length);
  const of = (name: string) => fitting.find((found) => found.method === name);
  return of(method) ?? (method === "HEAD" ? of("GET") : undefined);
};

const patternOf = (path: string): RegExp => new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`);

const resolve = ({ components }: Described, response: Response | { readonly $ref: string }): Response => {
  if (!("$ref" in response)) return response;
  const name = response.$ref.split("/").at(-1) ?? "";
  const shared = components.responses?.[name];
  if (!shared) throw new Error(`${response.$ref} leads nowhere`);
  return shared;
};

/** The JSON values in a body: one, or one per line. */
const valuesOf = (type: string, body: string): unknown[] => {
  if (type === "application/json") return [JSON.parse(body)];
  if (type === "application/x-ndjson")
    return body
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  return [body];
};
