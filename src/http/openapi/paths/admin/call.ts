import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from "zod-openapi";
import { pathParameter } from "../../../kernel/validation.ts";
import type { Described } from "../../described.ts";
import type { ErrorStatus } from "../../errors.ts";
import { requestId } from "../../headers.ts";
import { operator } from "../../security.ts";

/** What the operator asks for, and how it is answered. */
export interface AdminCall {
  readonly id: string;
  readonly summary: string;
  readonly path?: z.ZodRawShape;
  readonly query?: z.ZodObject;
  /** The body's schema, and an example of it. */
  readonly body?: readonly [z.ZodType, unknown];
  /** The body may be left out. */
  readonly optionalBody?: true;
  readonly answer: Readonly<Record<string, ZodOpenApiResponseObject>>;
  /** Beside those that any call of its kind may get. */
  readonly errors?: readonly ErrorStatus[];
}

const named = (description: string, example: string) =>
  pathParameter.meta({ description, examples: [example] });

export const websiteId = named("A website's id.", "web_0b9Zk2fX7Qm4sT1uVwYzAc");
export const apiKey = named("A website's public key.", "vlk_0RrSxSzLwJvA8e1kzPpE3u7Q");
export const secretId = named("A secret's id.", "sec_0b9Zk2fX7Qm4sT1uVwYzAc");
export const voiceName = named("A voice's exact name.", "UK English Female");

export type Call = (asked: AdminCall) => ZodOpenApiOperationObject;

export const describeCall =
  ({ errorAnswers }: Described): Call =>
  (asked) => {
    const { id, summary, path, query, body, answer, errors = [] } = asked;
    const withBody: ErrorStatus[] = body ? [400, 413, 503] : [];
    const withPath: ErrorStatus[] = path ? [400, 404] : [];
    const withQuery: ErrorStatus[] = query ? [400] : [];
    const statuses = new Set<ErrorStatus>([401, 429, ...errors, ...withBody, ...withPath, ...withQuery, 500]);
    return {
      operationId: id,
      tags: ["Admin"],
      summary,
      security: operator,
      requestParams: { ...(path && { path: z.object(path) }), ...(query && { query }) },
      ...(body && {
        requestBody: {
          required: !asked.optionalBody,
          content: { "application/json": { schema: body[0], example: body[1] } },
        },
      }),
      responses: {
        ...answer,
        ...errorAnswers("anyone", [...statuses]),
      },
    };
  };

export const shown = (description: string, schema: z.ZodType) => ({
  "200": {
    description,
    headers: z.object(requestId),
    content: { "application/json": { schema } },
  },
});

export const made = (description: string, schema: z.ZodType, headers: z.ZodRawShape = {}) => ({
  "201": {
    description,
    headers: z.object({ ...requestId, ...headers }),
    content: { "application/json": { schema } },
  },
});
