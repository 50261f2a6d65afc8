import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { healthStatus, liveness, readinessStatus } from "../../routes/health/health.ts";
import type { Described } from "../described.ts";
import { caching, etag, noStore, requestId } from "../headers.ts";
import { nobody } from "../security.ts";
import { conditional } from "../tagged.ts";

const health = { status: "ok", parts: { eventStore: { status: "ok" }, engines: { status: "ok" } } } as const;
const dependencies = [
  { name: "eventStore", status: "ok", since: "2026-11-21T08:00:00.000Z" },
  { name: "engines", status: "ok", since: "2026-11-21T08:00:00.000Z" },
] as const;
const untold = { ...requestId, ...noStore };
const hourly = caching("public, max-age=3600");
const hourlyAndStale = caching("public, max-age=3600, stale-while-revalidate=86400");
const asTold = {
  "X-Content-Type-Options": z.literal("nosniff").meta({ description: "Types are as told." }),
};
const fromAnywhere = {
  "Cross-Origin-Resource-Policy": z.literal("cross-origin").meta({ description: "Any page may load it." }),
};
const revalidated = caching("public, no-cache");
const immutable = caching("public, max-age=31536000, immutable");

/** What tells of the service itself. */
export const servicePaths = ({ errorAnswers }: Described): ZodOpenApiPathsObject => ({
  "/health": {
    get: {
      operationId: "checkHealth",
      tags: ["Service"],
      summary: "The state of the service and its parts",
      security: nobody,
      responses: {
        "200": {
          description: "It serves; `degraded`: without something.",
          headers: z.object({ ...requestId, ...noStore }),
          content: { "application/json": { schema: healthStatus, example: health } },
        },
        "503": {
          description: "It cannot serve.",
          headers: z.object({ ...requestId, ...noStore }),
          content: {
            "application/json": {
              schema: healthStatus,
              example: {
                status: "down",
                parts: { ...health.parts, eventStore: { status: "down", detail: "no answer in time" } },
              },
            },
          },
        },
      },
    },
  },
  "/health/live": {
    get: {
      operationId: "checkLife",
      tags: ["Service"],
      summary: "Whether the process answers",
      security: nobody,
      responses: {
        "200": {
          description: "It answers, whatever it depends on.",
          headers: z.object(untold),
          content: { "application/json": { schema: liveness, example: { status: "ok" } } },
        },
      },
    },
  },
  "/health/ready": {
    get: {
      operationId: "checkReadiness",
      tags: ["Service"],
      summary: "Whether it is to be given requests, and what it depends on",
      security: nobody,
      responses: {
        "200": {
          description: "It serves; `degraded`: without something.",
          headers: z.object(untold),
          content: {
            "application/json": { schema: readinessStatus, example: { status: "ok", dependencies } },
          },
        },
        "503": {
          description: "It cannot serve, or is about to end.",
          headers: z.object(untold),
          content: {
            "application/json": { schema: readinessStatus, example: { status: "draining", dependencies } },
          },
        },
      },
    },
  },
  "/openapi.json": {
    get: {
      operationId: "describe",
      tags: ["Service"],
      summary: "This description",
      security: nobody,
      requestParams: { header: conditional },
      responses: {
        "200": {
          description: "The description of the API, OpenAPI 3.1.",
          headers: z.object({ ...requestId, ...revalidated, ...etag }),
          content: {
            "application/json": { schema: z.looseObject({ openapi: z.string(), info: z.looseObject({}) }) },
          },
        },
        "304": {
          description: "The caller has it already.",
          headers: z.object({ ...requestId, ...revalidated, ...etag }),
        },
      },
    },
  },
  "/client.js": {
    get: {
      operationId: "loadClient",
      tags: ["Service"],
      summary: "The client library, one module for any page to import",
      security: nobody,
      requestParams: { header: conditional },
      responses: {
        "200": {
          description: "The module.",
          headers: z.object({ ...requestId, ...hourlyAndStale, ...etag, ...fromAnywhere, ...asTold }),
          content: { "text/javascript": { schema: z.string() } },
        },
        "304": {
          description: "The caller has it already.",
          headers: z.object({ ...requestId, ...hourlyAndStale, ...etag, ...fromAnywhere, ...asTold }),
        },
      },
    },
  },
  "/docs": {
    get: {
      operationId: "readDocs",
      tags: ["Service"],
      summary: "A page that renders this description",
      security: nobody,
      responses: {
        "200": {
          description: "The page.",
          headers: z.object({
            ...requestId,
            ...hourly,
            "Content-Security-Policy": z
              .string()
              .meta({ description: "Nothing from elsewhere.", examples: ["default-src 'none'"] }),
            ...asTold,
          }),
          content: { "text/html": { schema: z.string() } },
        },
      },
    },
  },
  "/docs/assets/{version}/{file}": {
    get: {
      operationId: "readDocsAsset",
      tags: ["Service"],
      summary: "What the page is made of",
      security: nobody,
      requestParams: {
        path: z.object({
          version: z.string().meta({ description: "The renderer's version.", examples: ["5.35.0"] }),
          file: z
            .string()
            .meta({ description: "One of the files of the page.", examples: ["swagger-ui.css"] }),
        }),
      },
      responses: {
        "200": {
          description: "The file.",
          headers: z.object({
            ...requestId,
            ...immutable,
            ...asTold,
          }),
          content: {
            "text/javascript": { schema: z.string() },
            "text/css": { schema: z.string() },
            "image/png": {},
          },
        },
        ...errorAnswers("anyone", [404]),
      },
    },
  },
});
