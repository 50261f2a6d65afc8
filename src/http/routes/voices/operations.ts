import { z } from "zod";
import type { ReportVoices } from "../../../application/catalog/voice-reports.ts";
import type { Voices } from "../../../application/catalog/voices.ts";
import { parse } from "../../../domain/validation.ts";
import { revalidatePrivately } from "../../caching/cache-control.ts";
import {
  jsonRequest,
  type Operation,
  operation,
  operationsWith,
  pathParams,
  type RequestPart,
} from "../../kernel/operation.ts";
import type { PublicUrl } from "../../kernel/public-url.ts";
import { websiteOf } from "../../kernel/request-state.ts";
import { respondTagged, taggedOperation, taggedResponses } from "../../kernel/tagged-content.ts";
import { queryValues } from "../query-values.ts";
import { createVoicePresenter } from "./presenter.ts";
import {
  VoiceDetailResponse,
  VoiceReportRequest,
  VoiceReportResponse,
  VoicesByLanguageResponse,
  VoicesListResponse,
  VoicesQuery,
} from "./schemas.ts";

/** Empty parameters count as absent, unknown ones are ignored, repeated ones are refused. */
const voicesQuery: RequestPart<z.output<typeof VoicesQuery>, typeof VoicesQuery> = {
  schema: VoicesQuery,
  read: ({ querystring }) => parse(VoicesQuery, queryValues(querystring, Object.keys(VoicesQuery.shape))),
};

interface VoiceOptions {
  readonly voices: Voices;
  readonly reportVoices: ReportVoices;
  readonly publicUrl: PublicUrl;
}

interface VoiceParts extends VoiceOptions {
  readonly present: ReturnType<typeof createVoicePresenter>;
}

/** A GET of voices, with an entity tag. */
const readOperation = operationsWith({ method: "get", tag: "Voices", auth: "website", ...taggedOperation });

/** `/v2/voices`. */
export const voiceOperations = (options: VoiceOptions): Operation[] => {
  const parts = { ...options, present: createVoicePresenter() };
  return [listVoices(parts), listVoicesByLanguage(parts), showVoice(parts), reportOperation(parts)];
};

const listVoices = ({ voices, publicUrl, present }: VoiceParts): Operation =>
  readOperation({
    path: "/v2/voices",
    id: "listVoices",
    summary: "List the voices, with links to their operations",
    description:
      "With a platform, voices that only browsers speak are left out unless the platform is known to have them. " +
      "With a language or gender, only those voices and their system voices are listed. A system voice that the " +
      "service speaks has a `service` and `fallbackVoice: true`; one without is a browser's own and comes first in " +
      "`voiceIDs`.",
    query: voicesQuery,
    responses: taggedResponses(VoicesListResponse),
    errors: [400],
    handle: ({ query }, ctx) => {
      const collection = voices.collection(websiteOf(ctx), query);
      respondTagged(ctx, present.list(publicUrl(ctx.req), collection, query));
    },
  });

const listVoicesByLanguage = ({ voices, publicUrl, present }: VoiceParts): Operation =>
  readOperation({
    path: "/v2/voices/by-language/{lang}",
    id: "listVoicesByLanguage",
    summary: "List the voices of a language",
    description: "The match is exact and case-sensitive. The list is empty if no voice has the language.",
    params: pathParams({
      lang: z.string().meta({ description: "BCP-47 language code.", examples: ["en-GB"] }),
    }),
    responses: taggedResponses(VoicesByLanguageResponse),
    errors: [400],
    handle: ({ params: { lang } }, ctx) => {
      respondTagged(
        ctx,
        present.byLanguage(publicUrl(ctx.req), lang, voices.inLanguage(websiteOf(ctx), lang)),
      );
    },
  });

const showVoice = ({ voices, publicUrl, present }: VoiceParts): Operation =>
  readOperation({
    path: "/v2/voices/{name}",
    id: "showVoice",
    summary: "Show a voice",
    params: pathParams({
      name: z.string().meta({ description: "The voice's exact name.", examples: ["UK English Female"] }),
    }),
    responses: taggedResponses(VoiceDetailResponse),
    errors: [400, 404],
    handle: ({ params: { name } }, ctx) => {
      respondTagged(ctx, present.detail(publicUrl(ctx.req), voices.named(websiteOf(ctx), name)));
    },
  });

const reportOperation = ({ voices, reportVoices, publicUrl, present }: VoiceParts): Operation =>
  operation({
    method: "post",
    path: "/v2/voices/report",
    id: "reportVoices",
    tag: "Voices",
    summary: "Report the voices of a platform, and get the catalog's voices for it",
    description: "The `ETag` is that of `GET /v2/voices` for the same platform.",
    auth: "website",
    cache: [revalidatePrivately],
    body: jsonRequest(VoiceReportRequest, reportExample),
    responses: { 200: taggedResponses(VoiceReportResponse)[200] },
    errors: [503],
    handle: async ({ body }, ctx) => {
      await reportVoices(body);
      const collection = voices.collection(websiteOf(ctx), body.platform);
      respondTagged(ctx, present.report(publicUrl(ctx.req), collection));
    },
  });

const reportExample = {
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
