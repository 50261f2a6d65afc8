import fc from "fast-check";
import type { FoundOperation, Operation, Parameter } from "../contracts/http.ts";
import { anyCharacter } from "./any-character.ts";
import type { Sent } from "./exchange.ts";

/** Requests for a described operation: valid, nearly valid, and arbitrary ones. */

/** The values that a valid request of the operator or of a website needs. */
export interface Known {
  readonly website: Readonly<Record<string, string>>;
  readonly operator: Readonly<Record<string, string>>;
  /** Existing path parameters by name. */
  readonly names: Readonly<Record<string, string>>;
}

const nasty = fc.constantFrom(
  ...["", " ", "null", "undefined", "NaN", "Infinity", "-0", "1e309", "0x1", "1,5", "٣", "true", "[]", "{}"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "../../etc/passwd", "..%2f", "%00", "\u0000"],
  ...[
    "<speak>",
    "<speak><audio src='/etc/passwd'/></speak>",
    "<speak>&xxe;</speak>",
    "<!DOCTYPE x>",
    "\ud800",
  ],
  ...[
    "'; DROP TABLE events; --",
    "a\r\nSet-Cookie: x=1",
    "\u202eevil",
    "👩‍👩‍👧‍👧",
    "e\u0301",
    "ﷺ".repeat(300),
  ],
  ...["a".repeat(201), "a".repeat(5_001), "9".repeat(400), "-1", "2.0000001", "0.5", "99999999999999999999"],
);

const anyText = fc.oneof(nasty, fc.string(), fc.string({ unit: anyCharacter, maxLength: 40 }));

/**
 * A value that the schema allows: a member of an enumeration, a number in its range, an example.
 */
const described = (schema: Readonly<Record<string, unknown>>): fc.Arbitrary<unknown> => {
  const {
    enum: values,
    examples,
    type,
    minimum,
    maximum,
    anyOf,
    oneOf,
    properties,
    items,
  } = schema as {
    enum?: unknown[];
    examples?: unknown[];
    type?: string;
    minimum?: number;
    maximum?: number;
    anyOf?: Record<string, unknown>[];
    oneOf?: Record<string, unknown>[];
    properties?: Record<string, Record<string, unknown>>;
    items?: Record<string, unknown>;
  };
  const branches = anyOf ?? oneOf;
  if (values) return fc.constantFrom(...values);
  if (examples) return fc.constantFrom(...examples);
  if (type === "object" && properties) return objectOf(properties, schema);
  if (type === "array" && items) return fc.array(fieldOf(items), { maxLength: 4 });
  if (branches) return fc.oneof(...branches.map(described));
  if (type === "number" || type === "integer") {
    const range = { min: minimum ?? -1e6, max: Math.min(maximum ?? 1e6, 1e6), noNaN: true };
    return type === "number" ? fc.double(range) : fc.integer(range);
  }
  if (type === "boolean") return fc.boolean();
  if (type === "null") return fc.constant(null);
  return fc.string({ minLength: 1, maxLength: 30 });
};

/** Mostly valid values, else arbitrary JSON. */
const fieldOf = (schema: Readonly<Record<string, unknown>>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 14, arbitrary: described(schema) },
    { weight: 1, arbitrary: fc.oneof(anyText, fc.jsonValue(), fc.constant(null)) },
  );

const objectOf = (
  properties: Readonly<Record<string, Record<string, unknown>>>,
  { required = [] }: { required?: readonly string[] } & Readonly<Record<string, unknown>>,
): fc.Arbitrary<unknown> => {
  const fields = Object.entries(properties).map(([name, schema]): [string, fc.Arbitrary<unknown>] => [
    name,
    name === "volume" ? quiet(fieldOf(schema)) : fieldOf(schema),
  ]);
  return fc.record<Record<string, unknown>>(Object.fromEntries(fields), { requiredKeys: [...required] });
};

/** Keeps most requests cheap: silence needs no engine. */
const quiet = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary });

const segment = fc.oneof(
  { weight: 3, arbitrary: anyText.map((text) => encodeURIComponent(text.toWellFormed())) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("%", "%zz", "%ff", "%c0%af", ".", "%2e%2e", "a%2fb", "a;b", ":", "*"),
  },
);

const pathOf = (path: string, names: Known["names"]): fc.Arbitrary<string> => {
  const parameters = path.match(/\{\w+\}/g) ?? [];
  const values = parameters.map((parameter) => {
    const known = names[parameter.slice(1, -1)];
    return known === undefined
      ? segment
      : fc.oneof(
          { weight: 2, arbitrary: fc.constant(encodeURIComponent(known)) },
          { weight: 1, arbitrary: segment },
        );
  });
  return fc
    .tuple(...values)
    .map((chosen) => chosen.reduce((filled, value) => filled.replace(/\{\w+\}/, () => value), path));
};

const queryOf = (parameters: readonly Parameter[]): fc.Arbitrary<string> => {
  const pairs = parameters.map(({ name, required, schema }) => {
    const value = fc.oneof(
      { weight: 14, arbitrary: described(schema).map(String) },
      { weight: 1, arbitrary: anyText },
    );
    const likely = name === "volume" ? quiet(value) : value;
    const pair = likely.map((text) => `${name}=${encodeURIComponent(String(text).toWellFormed())}`);
    return fc.option(pair, { nil: "", freq: required ? 20 : 1 });
  });
  const stray = fc.constantFrom(
    "",
    "",
    "",
    "key=a&key=b",
    "&&==&",
    "%",
    "%zz=%ff",
    "text=a&text=b",
    "__proto__=1",
  );
  return fc
    .tuple(fc.tuple(...pairs), stray)
    .map(([given, more]) => [...given, more].filter((pair) => pair !== "").join("&"));
};

/** Only characters allowed in a header: Node refuses to send control characters. */
const headerValue = fc
  .oneof(
    anyText,
    fc.constantFrom("*", '"', 'W/"x"', "bytes=0-", "bytes=-0", "bytes=9-1", "https://a.example", "null"),
    fc.constantFrom("gzip", "deflate", "br", "identity", "gzip, gzip"),
  )
  .map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "").trim());

const headerNames = [
  ...[
    "Idempotency-Key",
    "If-None-Match",
    "If-Range",
    "Range",
    "Accept",
    "Origin",
    "Referer",
    "Host",
    "X-Forwarded-For",
    "X-Request-Id",
  ],
  ...[
    "Content-Encoding",
    "Accept-Encoding",
    "Expect",
    "Cookie",
    "Authorization",
    "X-API-Key",
    "X-API-Secret",
    "xi-api-key",
  ],
  ...["Access-Control-Request-Method", "X-HTTP-Method-Override", "X-Forwarded-Host", "Upgrade"],
];

const strayHeaders = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...headerNames), headerValue, { maxKeys: 3 }) },
);

const contentType = fc.oneof(
  { weight: 9, arbitrary: fc.constant("application/json") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "text/plain",
      "application/json; charset=klingon",
      "application/json; charset=utf-16",
      "application/json; charset=",
      "multipart/form-data",
      "",
      "x",
    ),
  },
);

const bodyOf = ({ requestBody }: Operation): fc.Arbitrary<string | undefined> => {
  const [content] = Object.values(requestBody?.content ?? {});
  const stray = fc.constantFrom(
    undefined,
    undefined,
    "",
    "{",
    "[[[[",
    '"x"',
    "null",
    "0",
    `${"[".repeat(9_999)}`,
  );
  if (!content) return stray;
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fieldOf(content.schema as Record<string, unknown>).map((value) => JSON.stringify(value)),
    },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: stray },
  );
};

const credentialsFor = (
  operation: Operation,
  { website, operator }: Known,
): Readonly<Record<string, string>> => {
  const schemes = (operation.security ?? []).flatMap((scheme) => Object.keys(scheme));
  if (schemes.includes("adminToken")) return operator;
  return schemes.includes("apiSecret") ? website : {};
};

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];

/** Requests for the operation, most of them with its own method and an authorized caller. */
export const hostileRequests = (
  { method, path, operation }: FoundOperation,
  known: Known,
): fc.Arbitrary<Sent> =>
  fc
    .record({
      method: fc.oneof(
        { weight: 15, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom(...methods) },
      ),
      path: pathOf(path, known.names),
      query: queryOf((operation.parameters ?? []).filter((parameter) => parameter.in === "query")),
      credentials: fc.oneof(
        { weight: 15, arbitrary: fc.constant(credentialsFor(operation, known)) },
        { weight: 1, arbitrary: fc.constant({}) },
      ),
      // Each request has its own client address, so that throttling of failures does not hide other
      // responses.
      address: fc.ipV4(),
      stray: strayHeaders,
      contentType,
      body: bodyOf(operation),
    })
    .map(({ query, credentials, address, stray, contentType: type, body, ...sent }) => ({
      method: sent.method,
      path: query === "" ? sent.path : `${sent.path}?${query}`,
      headers: {
        "X-Forwarded-For": address,
        ...credentials,
        ...(body !== undefined && { "Content-Type": type }),
        ...stray,
      },
      body,
    }));
