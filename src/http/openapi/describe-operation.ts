import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi";
import { isPrivate } from "../caching/cache-control.ts";
import { type Auth, isAdmin } from "../kernel/auth.ts";
import { apiAt, type CompatibleApi } from "../kernel/compatible-api.ts";
import { type ErrorStatus, type ErrorType, errorTypes } from "../kernel/errors/error-codes.ts";
import { ownEnvelope } from "../kernel/errors/error-envelope.ts";
import {
  cacheControl,
  deprecation,
  type HeaderNames,
  rateLimits,
  requestId,
  tokenRenewal,
} from "../kernel/headers.ts";
import type { Operation, ResponseSpec } from "../kernel/operation.ts";
import { securityWith } from "./security.ts";

/** The operations of one path, by method. */
type Described = Partial<Record<Operation["method"] | "head", ZodOpenApiOperationObject>>;

export const createDescriber = (names: HeaderNames, apis: readonly CompatibleApi[]) => {
  const errorResponses = createErrorResponses(names, apis);
  const securityOf = securityWith(apis);

  const response = (
    { auth, cache: operationCache = [] }: Operation,
    { description, headers, content, cache = operationCache }: ResponseSpec,
  ): ZodOpenApiResponseObject => ({
    description,
    headers: z.object({
      ...requestId,
      ...limitsOf(auth),
      ...(cache.length > 0 && cacheControl(cache)),
      ...(isCounted(auth) && cache.some(isPrivate) && tokenRenewal(names)),
      ...headers,
    }),
    ...(content && { content }),
  });

  /** The operation, and HEAD where it is described separately. */
  return (operation: Operation): Described => {
    const { body, params, query, headers, head, responses } = operation;
    const described: ZodOpenApiOperationObject = {
      operationId: operation.id,
      tags: [operation.tag],
      summary: operation.summary,
      ...(operation.description && { description: operation.description }),
      ...(operation.deprecated && { deprecated: true }),
      security: securityOf[operation.auth],
      ...((params || query || headers) && {
        requestParams: {
          ...(params && { path: params.schema }),
          ...(query && { query: query.schema }),
          ...(headers && { header: z.object(headers) }),
        },
      }),
      ...(body && {
        requestBody: {
          required: body.required,
          content: {
            "application/json": { schema: body.schema, example: body.example },
            ...body.otherContent,
          },
        },
      }),
      responses: {
        ...Object.fromEntries(
          Object.entries(responses).map(([status, spec]) => [
            status,
            response(operation, operation.deprecated ? withDeprecation(spec) : spec),
          ]),
        ),
        ...errorResponses(operation),
      },
    };
    return { [operation.method]: described, ...(head && { head: headOf(described, head) }) };
  };
};

const withDeprecation = (spec: ResponseSpec): ResponseSpec => ({
  ...spec,
  headers: { ...spec.headers, ...deprecation },
});

/** True if the caller is rate-limited by its key. */
const isCounted = (auth: Auth): boolean => auth.startsWith("web");

/** Operators, auditors and anonymous callers are not rate-limited. */
const mayBeUncounted = (auth: Auth): boolean =>
  auth === "website, if it has credentials" || auth === "website even suspended, or auditor";

const optionalRateLimits = z.object(rateLimits).partial().shape;

/**
 * The rate-limit headers of a response. `either`: callers who were not authenticated get the same
 * response, without the headers.
 */
const limitsOf = (auth: Auth, { either = mayBeUncounted(auth) } = {}): z.ZodRawShape => {
  if (!isCounted(auth)) return {};
  return either ? optionalRateLimits : rateLimits;
};

/** The errors that follow from how an operation is called. */
const impliedErrors = ({ auth, params, query, body }: Operation): ErrorStatus[] => [
  ...errorsOfAuth[auth],
  ...(body ? ([400, 413] as const) : []),
  ...(isAdmin(auth) && body ? ([503] as const) : []),
  ...(isAdmin(auth) && params ? ([400, 404] as const) : []),
  ...(isAdmin(auth) && query ? ([400] as const) : []),
];

const errorsOfAuth: Readonly<Record<Auth, readonly ErrorStatus[]>> = {
  none: [],
  "anyone, or auditor": [429],
  website: [401, 403, 429, 500],
  "website, even suspended": [401, 429, 500],
  "website, if it has credentials": [401, 403, 429, 500],
  "website even suspended, or auditor": [401, 429, 500],
  websocket: [401, 403, 429],
  "verification token": [401, 429, 500],
  operator: [401, 403, 429, 500],
  auditor: [401, 429, 500],
};

/**
 * Operations share components for their error responses, one per status, envelope and audience. A
 * deprecated operation does not share those that have its own headers.
 */
const createErrorResponses = (names: HeaderNames, apis: readonly CompatibleApi[]) => {
  const shared = new Map<string, ZodOpenApiResponseObject>();
  const envelopeOf = ({ path }: Operation) => apiAt(apis, path)?.errors ?? ownEnvelope;

  const describe = (
    { headerSchemas, authentication, example, description = example.message }: ErrorType,
    operation: Operation,
  ): ZodOpenApiResponseObject => {
    const { auth, deprecated } = operation;
    const early = authentication === "before";
    const counted = isCounted(auth) && !early;
    const either = authentication === "either" || mayBeUncounted(auth);
    const envelope = envelopeOf(operation);
    const { status, headers, body } = envelope.present(example);
    return {
      description,
      headers: z.object({
        ...requestId,
        ...cacheControl([headers["Cache-Control"] ?? ""]),
        ...(counted && { ...limitsOf(auth, { either }), ...(status !== 401 && tokenRenewal(names)) }),
        ...headerSchemas,
        ...envelope.headersOf(status),
        ...(deprecated && !early && deprecation),
      }),
      content: { "application/json": { schema: envelope.schema, example: body } },
    };
  };

  return (operation: Operation): Record<string, ZodOpenApiResponseObject> => {
    const statuses = new Set([...impliedErrors(operation), ...(operation.errors ?? [])]);
    const responseFor = (status: ErrorStatus): ZodOpenApiResponseObject => {
      const error = errorTypeOf(status, operation);
      const { type = [], name = [type].flat()[0]?.name, authentication } = error;
      const early = authentication === "before";
      if (operation.deprecated && !early) return describe(error, operation);
      const audience = early ? "" : audienceOf(operation.auth);
      const id = `${envelopeOf(operation).name}${name}${audience}`;
      const response = shared.get(id) ?? { id, ...describe(error, operation) };
      shared.set(id, response);
      return response;
    };
    return Object.fromEntries([...statuses].map((status) => [String(status), responseFor(status)]));
  };
};

/** The last part of the names of responses, which differ by their rate-limit headers. */
const audienceOf = (auth: Auth): string => {
  if (!isCounted(auth)) return "";
  return mayBeUncounted(auth) ? "SometimesCounted" : "Counted";
};

const errorTypeOf = (status: ErrorStatus, { auth }: Operation): ErrorType => {
  const { admin, ...error } = errorTypes[status];
  return isAdmin(auth) ? { ...error, ...admin } : error;
};

/**
 * HEAD ignores ranges and synthesizes nothing; a URL that is too long is refused before its method
 * is known.
 */
const notForHead = new Set(["206", "416", "431", "502"]);

/** The same operation with HEAD: the same headers, no content. */
const headOf = (
  get: ZodOpenApiOperationObject,
  { id, optional = {} }: NonNullable<Operation["head"]>,
): ZodOpenApiOperationObject => ({
  ...get,
  operationId: id,
  summary: `${get.summary}: only the headers`,
  responses: Object.fromEntries(
    Object.entries(get.responses)
      .filter(([status]) => !notForHead.has(status))
      .map(([status, { id: _, content: __, headers, ...response }]) => {
        const { shape } = headers as z.ZodObject;
        const missing = status === "200" ? z.object(optional).partial().shape : {};
        return [status, { ...response, headers: z.object({ ...shape, ...missing }) }];
      }),
  ),
});
