import type { Context } from "koa";
import { z } from "zod";
import { Invalid } from "../../../domain/errors.ts";
import { parse } from "../../../domain/validation.ts";
import {
  bucketLimits,
  bucketWidths,
  groupings,
  maxTime,
  type ReportUsageBuckets,
  type UsageBuckets,
  type UsageRow,
} from "../../../ledger/reports/usage-buckets.ts";
import { noStore } from "../../caching/cache-control.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { json, type Operation, operation, type RequestPart } from "../../kernel/operation.ts";
import { keyWithSecret } from "../usage.ts";

const count = z.int().min(0);
const unixTime = z.int().min(0).max(maxTime);
const ids = z.array(z.string().max(200)).max(100);

const usageQuery = z.object({
  start_time: unixTime.meta({ description: "Unix seconds, inclusive.", examples: [1_793_491_200] }),
  end_time: unixTime.optional().meta({
    description: "Unix seconds, exclusive. Default: the end of the bucket of `as_of`.",
    examples: [1_796_083_200],
  }),
  bucket_width: z
    .enum(bucketWidths)
    .default("1d")
    .meta({ description: "Days, hours and minutes begin at whole ones in UTC." }),
  group_by: z.array(z.enum(groupings)).max(groupings.length).optional().meta({
    description:
      "A project is a website, a model is an engine. There are no users: `user_id` is always null.",
  }),
  api_key_ids: ids.optional(),
  project_ids: ids.optional(),
  user_ids: ids.optional().meta({ description: "There are no users: with any id the usage is empty." }),
  models: ids.optional(),
  limit: z.int().min(1).max(bucketLimits["1m"].max).optional().meta({
    description:
      "Buckets in the response. Days: 7, at most 31; hours: 24, at most 168; minutes: 60, at most 1440. Fewer with very many keys.",
  }),
  page: z.string().max(200).optional().meta({
    description: "`next_page` of the response before. Its times count, and not those of the request.",
  }),
  as_of: unixTime.optional().meta({
    description: "Only what was recorded up to this time, in Unix seconds. Default: now, for all pages.",
  }),
});

const lists = ["group_by", "api_key_ids", "project_ids", "user_ids", "models"] as const;
const numbers = ["start_time", "end_time", "limit", "as_of"] as const;

/**
 * OpenAI's clients write lists as `name[]=a&name[]=b`; its reference also has `name=a&name=b`. Only
 * digits count as a number: a blank `as_of` must not report the usage of 1970.
 */
const readQuery = ({ query }: Context): unknown => {
  const read: Record<string, unknown> = { ...query };
  for (const name of lists) {
    const values = [query[name], query[`${name}[]`]].flat().filter((value) => value !== undefined);
    if (values.length > 0) read[name] = values;
  }
  for (const name of numbers) if (/^\d+$/.test(String(query[name]))) read[name] = Number(query[name]);
  return read;
};

const query: RequestPart<z.output<typeof usageQuery>, typeof usageQuery> = {
  schema: usageQuery,
  read: (ctx) => {
    const values = parse(usageQuery, readQuery(ctx));
    const { max } = bucketLimits[values.bucket_width];
    if ((values.limit ?? 0) > max) {
      const message = `limit must be at most ${max} for a bucket_width of ${values.bucket_width}.`;
      throw new Invalid([{ path: ["limit"], message }]);
    }
    return values;
  },
};

const usageResult = namedSchema("AudioSpeechesUsageResult", {
  object: z.literal("organization.usage.audio_speeches.result"),
  characters: z.int(),
  num_model_requests: z.int(),
  project_id: z.string().nullable().meta({ description: "The website, if grouped by it." }),
  user_id: z.null(),
  api_key_id: z.string().nullable(),
  model: z.string().nullable().meta({ description: "The engine, if grouped by it." }),
});

const usagePage = namedSchema("AudioSpeechesUsagePage", {
  object: z.literal("page"),
  data: z.array(
    z.object({
      object: z.literal("bucket"),
      start_time: count,
      end_time: count,
      results: z.array(usageResult),
    }),
  ),
  has_more: z.boolean(),
  next_page: z.string().nullable(),
  as_of: count.meta({
    description:
      "What was recorded up to this time is included. Servings of the last 130 seconds before it may still be added.",
  }),
});

/** `GET /openai/v1/organization/usage/audio_speeches`, in OpenAI's shape with `as_of` added. */
export const openAiUsageOperation = ({
  reportUsageBuckets,
}: {
  readonly reportUsageBuckets: ReportUsageBuckets;
}): Operation =>
  operation({
    method: "get",
    path: "/openai/v1/organization/usage/audio_speeches",
    id: "openAiUsage",
    tag: "OpenAI",
    summary: "Report characters and requests by day, hour or minute",
    description:
      "With an operator's or auditor's token, the usage of all keys; with a key's secret, its own. The sums are those of the other usage reports. " +
      "Days are read from the sums in the ledger; hours and minutes from every request in the range.",
    auth: "website even suspended, or auditor",
    cache: [noStore],
    query,
    responses: { 200: { description: "A page of buckets, the earliest first.", content: json(usagePage) } },
    errors: [400, 403, 410, 503],
    handle: async ({ query: asked }, ctx) => {
      const apiKey = keyOf(ctx);
      const { user_ids: users } = asked;
      const report = await reportUsageBuckets({
        apiKey,
        fromInclusive: asked.start_time,
        toExclusive: asked.end_time,
        width: asked.bucket_width,
        groupBy: asked.group_by ?? [],
        apiKeys: users ? [] : asked.api_key_ids,
        websites: asked.project_ids,
        engines: asked.models,
        limit: asked.limit,
        page: asked.page,
        asOf: asked.as_of,
        signal: disconnectSignal(ctx),
      });
      return present(report);
    },
  });

/**
 * Returns undefined for operators and auditors. A page's key alone proves nothing: anyone can read
 * it.
 */
const keyOf = (ctx: Context): string | undefined => (ctx.state.caller ? keyWithSecret(ctx) : undefined);

const present = ({ asOf, buckets, nextPage }: UsageBuckets): z.output<typeof usagePage> => ({
  object: "page",
  data: buckets.map(({ fromInclusive, toExclusive, rows }) => ({
    object: "bucket",
    start_time: fromInclusive,
    end_time: toExclusive,
    results: rows.map(presentRow),
  })),
  has_more: nextPage !== undefined,
  next_page: nextPage ?? null,
  as_of: asOf,
});

const presentRow = (row: UsageRow): z.output<typeof usageResult> => ({
  object: "organization.usage.audio_speeches.result",
  characters: row.characters,
  num_model_requests: row.requests,
  project_id: row.websiteId,
  user_id: null,
  api_key_id: row.apiKey,
  model: row.engine,
});
