import { z } from "zod";
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from "zod-openapi";
import {
  VoiceDetailResponse,
  VoiceReportRequest,
  VoiceReportResponse,
  VoicesByLanguageResponse,
  VoicesListResponse,
  VoicesQuery,
} from "../../routes/voices/schemas.ts";
import type { Described } from "../described.ts";
import { websites } from "../security.ts";
import { conditional, taggedAnswers } from "../tagged.ts";

/** `/v2/voices`. */
export const voicePaths = (described: Described): ZodOpenApiPathsObject => {
  const { errorAnswers } = described;
  const get = (
    operation: Pick<ZodOpenApiOperationObject, "operationId" | "summary" | "description" | "requestParams">,
    schema: z.ZodType,
    statuses: readonly (400 | 404)[],
  ): ZodOpenApiOperationObject => ({
    ...operation,
    tags: ["Voices"],
    security: websites,
    requestParams: { ...operation.requestParams, header: conditional },
    responses: {
      ...taggedAnswers(described, schema),
      ...errorAnswers("counted", [...statuses, 401, 403, 429, 500]),
    },
  });
  return {
    "/v2/voices": {
      get: get(
        {
          operationId: "listVoices",
          summary: "All voices, with links to what can be done with them",
          description:
            "With a platform it leaves out the voices that only browsers speak and that none there is known to have. " +
            "With a language or gender it lists those voices alone, and the system voices behind them. A system voice " +
            "that the service speaks has a `service` and `fallbackVoice: true`; one without is a browser's own, and " +
            "comes first in `voiceIDs`.",
          requestParams: { query: VoicesQuery },
        },
        VoicesListResponse,
        [400],
      ),
    },
    "/v2/voices/by-language/{lang}": {
      get: get(
        {
          operationId: "listVoicesByLanguage",
          summary: "The voices of one language",
          description: "Exact and case-sensitive; none is an empty list.",
          requestParams: {
            path: z.object({
              lang: z.string().meta({ description: "BCP-47 language code.", examples: ["en-GB"] }),
            }),
          },
        },
        VoicesByLanguageResponse,
        [400],
      ),
    },
    "/v2/voices/{name}": {
      get: get(
        {
          operationId: "showVoice",
          summary: "One voice",
          requestParams: {
            path: z.object({
              name: z
                .string()
                .meta({ description: "The voice's exact name.", examples: ["UK English Female"] }),
            }),
          },
        },
        VoiceDetailResponse,
        [400, 404],
      ),
    },
    "/v2/voices/report": {
      post: {
        operationId: "reportVoices",
        tags: ["Voices"],
        summary: "Report which voices a platform has, and get the catalog's voices for it",
        description: "The `ETag` is that of `GET /v2/voices` for the same platform.",
        security: websites,
        requestBody: {
          required: true,
          content: { "application/json": { schema: VoiceReportRequest, example: report } },
        },
        responses: {
          "200": taggedAnswers(described, VoiceReportResponse)["200"],
          ...errorAnswers("counted", [400, 401, 403, 413, 429, 500, 503]),
        },
      },
    },
  };
};

const report = {
  platform: {
    browser: "Chrome",
    browserVersion: "130",
    os: "Windows",
    osVersion: "11",
    deviceType: "desktop",
  },
  voices: [
    {
      name: "Google UK English Female",
      lang: "en-GB",
      voiceURI: "Google UK English Female",
      localService: false,
    },
  ],
  timestamp: "2026-11-21T08:00:00Z",
};
