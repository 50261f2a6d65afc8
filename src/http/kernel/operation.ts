import type { Context } from "koa";
import { z } from "zod";
import type { ZodOpenApiContentObject } from "zod-openapi";
import { parse } from "../../domain/validation.ts";
import type { Auth, Cors } from "./auth.ts";
import type { ErrorStatus } from "./errors/error-codes.ts";
import { hasMediaType, readJsonBody, readTextBody } from "./json-body.ts";
import type { FromMemory } from "./request-state.ts";

/**
 * Parameters in the path or the query: their schema in the OpenAPI document, and how they are read.
 */
export interface RequestPart<T, S extends z.ZodType = z.ZodType> {
  readonly schema: S;
  /** @throws {Invalid} */
  read(ctx: Context): T;
}

interface RequestBody<T> {
  readonly schema: z.ZodType;
  readonly example: unknown;
  /**
   * @throws {Invalid}
   * @throws {PayloadTooLarge}
   */
  read(ctx: Context): Promise<T>;
  readonly required: boolean;
  /** Its other media types. */
  readonly otherContent?: ZodOpenApiContentObject;
}

export interface ResponseSpec {
  readonly description: string;
  /** The headers of this response alone. Those that follow from `auth` and `cache` are added. */
  readonly headers?: z.ZodRawShape;
  readonly content?: ZodOpenApiContentObject;
  /** Its Cache-Control policies, if they differ from the operation's. */
  readonly cache?: readonly string[];
}

/** Everything about an operation except how it handles a request. */
export interface OperationSpec {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** An OpenAPI path template. */
  readonly path: string;
  /** The operationId. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The headers that announce it on every response of the path, errors included. */
  readonly deprecated?: Readonly<Record<"Deprecation" | "Sunset" | "Link", string>>;
  readonly auth: Auth;
  /** The default follows from `auth`. */
  readonly cors?: Cors;
  /** A single policy is set on every response; the handler chooses from several. */
  readonly cache?: readonly string[];
  /** The request headers that the response depends on, besides credentials. */
  readonly headers?: z.ZodRawShape;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** The errors besides those that follow from `auth` and the parts of the request. */
  readonly errors?: readonly ErrorStatus[];
  /**
   * The description of HEAD, if it is separate: its operationId, and the headers that it may lack.
   */
  readonly head?: { readonly id: string; readonly optional?: z.ZodRawShape };
}

/** An operation for the router and the OpenAPI document. */
export interface Operation extends OperationSpec {
  readonly params?: RequestPart<unknown, z.ZodObject> | undefined;
  readonly query?: RequestPart<unknown, z.ZodObject> | undefined;
  readonly body?: RequestBody<unknown> | undefined;
  readonly fromMemory?: FromMemory | undefined;
  readonly handle: (ctx: Context) => Promise<void>;
}

export interface Input<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

export interface Declaration<Params, Query, Body> extends OperationSpec {
  readonly params?: RequestPart<Params, z.ZodObject>;
  readonly query?: RequestPart<Query, z.ZodObject>;
  readonly body?: RequestBody<Body>;
  readonly fromMemory?: FromMemory;
  /** Returns the JSON to send, or nothing if it has put the response into `ctx` itself. */
  handle(input: Input<Params, Query, Body>, ctx: Context): unknown;
}

/**
 * One declaration per endpoint. The router, the OpenAPI document, the CORS policy and `Allow` are
 * derived from it.
 */
export const operation = <Params, Query, Body>({
  handle,
  ...spec
}: Declaration<Params, Query, Body>): Operation => {
  const { params, query, body, cache = [], responses } = spec;
  const success = Object.keys(responses)
    .map(Number)
    .filter((status) => status >= 200 && status < 300);
  return {
    ...spec,
    handle: async (ctx) => {
      const input = { body: await body?.read(ctx), query: query?.read(ctx), params: params?.read(ctx) };
      if (success.length === 1) ctx.status = success[0] ?? 200;
      if (cache.length === 1) ctx.set("Cache-Control", cache[0] ?? "");
      const result = await handle(input as Input<Params, Query, Body>, ctx);
      if (result !== undefined) ctx.body = result;
    },
  };
};

/** Declares operations that have the given members in common. */
export const operationsWith =
  <const Common extends Partial<OperationSpec>>(common: Common) =>
  <Params, Query, Body>(declaration: Omit<Declaration<Params, Query, Body>, keyof Common>): Operation =>
    operation({ ...common, ...declaration } as unknown as Declaration<Params, Query, Body>);

/** Pages, documents and health checks, which need no credentials. */
export const serviceOperation = operationsWith({ method: "get", tag: "Service", auth: "none" });

/**
 * Parameters in the path.
 * @throws {Invalid}
 */
export const pathParams = <Shape extends z.ZodRawShape>(
  shape: Shape,
): RequestPart<z.output<z.ZodObject<Shape>>, z.ZodObject> => {
  const schema = z.object(shape);
  return { schema, read: ({ state }) => parse(schema, state.route.params) };
};

/** The name of a resource in a path. */
export const resourceName = (description: string, example: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .meta({ description, examples: [example] });

export const queryParams = <Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
): RequestPart<z.output<z.ZodObject<Shape>>, z.ZodObject<Shape>> => ({
  schema,
  read: ({ query }) => parse(schema, query),
});

interface JsonRequestOptions<T> {
  readonly required?: boolean;
  /**
   * Replaces the schema's parsing of the body, for instance because an application service parses
   * it.
   */
  readonly read?: (body: unknown) => T;
}

/** A JSON body. A body that is not required is `{}` if absent. */
export const jsonRequest = <S extends z.ZodType, T = z.output<S>>(
  schema: S,
  example: unknown,
  { required = true, read = (body) => parse(schema, body) as T }: JsonRequestOptions<T> = {},
): RequestBody<T> => ({ schema, example, required, read: async (ctx) => read(await readJsonBody(ctx)) });

interface TextRequest<T> {
  readonly mediaTypes: readonly string[];
  readonly example: string;
  /** @throws {Invalid} */
  readonly read: (text: string) => T;
}

/** A JSON body that may also be sent as a text of other media types. */
export const orText = <T>(
  body: RequestBody<T>,
  { mediaTypes, example, read }: TextRequest<T>,
): RequestBody<T> => ({
  ...body,
  otherContent: Object.fromEntries(mediaTypes.map((type) => [type, { schema: z.string(), example }])),
  read: async (ctx) => {
    const mediaType = mediaTypes.find((type) => hasMediaType(ctx, type));
    return mediaType === undefined ? await body.read(ctx) : read(await readTextBody(ctx, mediaType));
  },
});

export const json = (schema: z.ZodType, example?: unknown): ZodOpenApiContentObject => ({
  "application/json": { schema, ...(example !== undefined && { example }) },
});
