import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { verifiedOrigin } from "../../routes/admin/answers.ts";
import { AuthToken, ConfigResponse } from "../../routes/config/schemas.ts";
import type { Described } from "../described.ts";
import { limits, noStore, renewal, requestId } from "../headers.ts";
import { originOwner, websites } from "../security.ts";

/** A website's configuration, its access tokens and the proof of its origins. */
export const accessPaths = (described: Described): ZodOpenApiPathsObject => ({
  "/v2/config": {
    get: {
      operationId: "readConfig",
      tags: ["Access"],
      summary: "The website's configuration, and a token for the requests that follow",
      description: "Suspended keys may read it. No cache keeps it, because it carries a token.",
      security: websites,
      responses: {
        "200": {
          description: "As it is now.",
          headers: z.object({ ...requestId, ...limits, ...noStore, ...renewal(described.names) }),
          content: { "application/json": { schema: ConfigResponse } },
        },
        ...described.errorAnswers("counted", [401, 429, 500]),
      },
    },
  },
  "/v2/auth/refresh": {
    post: {
      operationId: "refreshToken",
      tags: ["Access"],
      summary: "A fresh access token",
      security: websites,
      responses: {
        "200": {
          description: "The token.",
          headers: z.object({ ...requestId, ...limits, ...noStore, ...renewal(described.names) }),
          content: { "application/json": { schema: AuthToken } },
        },
        ...described.errorAnswers("counted", [401, 403, 429, 500]),
      },
    },
  },
  "/v2/auth/verify-origin": {
    post: {
      operationId: "verifyOrigin",
      tags: ["Access"],
      summary: "Prove that the request's origin is the website's",
      security: originOwner,
      requestParams: {
        header: z.object({
          Origin: z
            .string()
            .optional()
            .meta({ description: "The origin to prove.", examples: ["https://example.com"] }),
        }),
      },
      responses: {
        "200": {
          description: "Whether the token proves the origin. If so, the origin is verified from here on.",
          headers: z.object({ ...requestId, ...noStore }),
          content: { "application/json": { schema: verifiedOrigin } },
        },
        ...described.errorAnswers("anyone", [401, 429, 500, 503]),
      },
    },
  },
});
