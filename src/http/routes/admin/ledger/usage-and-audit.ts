import type { Context } from "koa";
import { z } from "zod";
import { type Audit, auditPlace } from "../../../../ledger/audit/audit.ts";
import { type AuditFormat, auditFormats, auditText } from "../../../../ledger/audit/audit-format.ts";
import { type UsageCloudEvent, usageEventType } from "../../../../ledger/audit/cloud-event.ts";
import type { ReportUsage, UsageReport } from "../../../../ledger/reports/usage-report.ts";
import { vary } from "../../../kernel/headers.ts";
import { disconnectSignal } from "../../../kernel/middleware.ts";
import { namedSchema } from "../../../kernel/named-schema.ts";
import { type Operation, pathParams, queryParams } from "../../../kernel/operation.ts";
import { respondWithText } from "../../../kernel/respond.ts";
import { adminOperation, apiKey, count, ok, time } from "../admin-operation.ts";
import { plan } from "../keys.ts";
import { auditEntry, eventFilter } from "./audit-entry.ts";

const totals = { requests: count, characters: count };

const usageReport = namedSchema("UsageReport", {
  apiKey: z.string(),
  month: z.string(),
  asOf: time,
  asOfPosition: count.meta({
    description: "The report includes every entry up to this position of the log, and none that follows.",
  }),
  finalUntil: time.meta({
    description:
      "The charges are final up to this time: no instance can still record an earlier serving, because none records while its clock is off by more than 60 seconds. " +
      "It is `asOf`, but at least 130 seconds before now and before the time of `asOfPosition`. Later servings may still be added to a report as of the same time. " +
      "Only `voided` may change afterwards: an append that the event store delayed is voided when it is found.",
  }),
  quota: z
    .int()
    .nullable()
    .exactOptional()
    .meta({ description: "The quota at that time; absent if the key was not yet issued." }),
  plan: plan.exactOptional().meta({ description: "The plan at that time." }),
  status: z.enum(["active", "suspended"]).exactOptional().meta({ description: "The state at that time." }),
  quotas: z
    .array(z.object({ at: time, quota: z.int().nullable() }))
    .meta({ description: "The quota at the beginning of the month, and its changes in the month." }),
  ...totals,
  voided: z.object(totals).meta({
    description:
      "Voided servings, not in the other totals: no audio was delivered (503, or the client had disconnected), or a concurrent request was charged.",
  }),
  corrections: z
    .array(z.object({ at: time, month: z.string(), ...totals }))
    .exactOptional()
    .meta({
      description:
        "Servings that a wrong clock recorded before it was corrected in this month, by the month in which they are charged; not in the other totals unless that is this month.",
    }),
  byDay: z.array(z.object({ ...totals, day: z.string() })),
  byEngine: z.array(z.object({ ...totals, engine: z.string() })),
  byVoice: z.array(z.object({ ...totals, voice: z.string() })),
}) satisfies z.ZodType<UsageReport>;

const usageQuery = z.object({
  month: z.string().optional(),
  asOf: z.string().optional(),
  asOfPosition: z
    .string()
    .regex(/^\d{1,15}$/, { error: "Must be the position of an event in the log." })
    .transform(Number)
    .optional()
    .meta({ description: "The position of an entry of the audit, inclusive.", examples: ["1042"] }),
});

export const usageOperation = ({ reportUsage }: { reportUsage: ReportUsage }): Operation =>
  adminOperation({
    method: "get",
    path: "/admin/keys/{apiKey}/usage",
    id: "reportUsage",
    summary: "Report a month's totals by day, engine and voice, now or as of a time or a position of the log",
    params: pathParams({ apiKey }),
    query: queryParams(usageQuery),
    responses: ok("The totals.", usageReport),
    errors: [410, 503],
    handle: ({ params, query }, _, ctx) =>
      reportUsage({ ...params, ...query, signal: disconnectSignal(ctx) }),
  });

/** A line of the audit as CloudEvents. */
const usageCloudEvent = namedSchema("UsageCloudEvent", {
  specversion: z.literal("1.0"),
  id: z.string().meta({ description: "The same in every export: deduplicate by `source` and `id`." }),
  source: z.string().meta({ description: "The journal that holds the charge." }),
  type: z.literal(usageEventType),
  subject: z.string().meta({ description: "The API key." }),
  time: time.meta({ description: "The time of the serving, also of a voided one." }),
  datacontenttype: z.literal("application/json"),
  place: z.string().meta({ description: "The position and index, for `after`." }),
  data: z.object({
    characters: z.int().meta({ description: "Negative for a voided serving." }),
    requests: z.int(),
    engine: z.string(),
    voice: z.string(),
    requestId: z.string().meta({ description: "A voided serving has that of its serving." }),
    voided: z.object({ reason: z.enum(["unanswered", "repeat"]), at: time }).exactOptional(),
  }),
}) satisfies z.ZodType<UsageCloudEvent>;

const auditQuery = z.object({
  ...eventFilter,
  from: z.string().optional(),
  to: z.string().optional(),
  after: auditPlace.optional().meta({
    description:
      "The place of the last entry received: its position and index, or the position alone for the whole event.",
    examples: ["1042.7"],
  }),
  format: z.enum(auditFormats).optional().meta({
    description:
      "Default: as `Accept` prefers. `cloudevents` (CloudEvents 1.0, one per line) has only what is charged and what is voided, for usage meters.",
  }),
});

const contentTypes: Readonly<Record<AuditFormat, string>> = {
  ndjson: "application/x-ndjson",
  cloudevents: "application/x-ndjson",
  csv: "text/csv; charset=utf-8; header=present",
};

/**
 * The audit is complete if the response ends with the last chunk of its chunked encoding; an error
 * closes the connection instead, which every client detects (curl exits with 18). HTTP/1.0 has no
 * chunks: the connection is closed after a complete audit and reset after an error (curl exits with
 * 56). Complete lines that were received before an error are valid. A request with `after`
 * continues after the last of them; its response has no entries if the audit was complete. In an
 * audit of the whole log, revisions without gaps also prove that a stream is complete.
 */
export const auditOperation = ({ audit }: { audit: Audit }): Operation =>
  adminOperation({
    method: "get",
    path: "/admin/audit",
    id: "audit",
    summary: "Read the events of the log, up to its current end, with one entry for each serving",
    query: queryParams(auditQuery),
    responses: {
      200: {
        description:
          "One entry per line. Complete if the response ends normally; after an error, `after` continues it.",
        headers: vary,
        content: {
          "application/x-ndjson": { schema: z.union([auditEntry, usageCloudEvent]) },
          "text/csv": { schema: z.string() },
        },
      },
    },
    errors: [404, 410, 503],
    handle: async ({ query: { format: requested, ...request } }, _, ctx) => {
      const format = requested ?? acceptedFormat(ctx);
      const text = auditText(audit({ ...request, signal: disconnectSignal(ctx) }), format);
      await respondWithText(ctx, text, contentTypes[format]);
      ctx.set("Vary", "Accept");
    },
  });

const acceptedFormat = (ctx: Context): AuditFormat =>
  ctx.accepts("application/x-ndjson", "text/csv") === "text/csv" ? "csv" : "ndjson";
