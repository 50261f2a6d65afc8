import { once } from "node:events";
import { Readable } from "node:stream";
import type { Context } from "koa";
import { z } from "zod";
import type { Audit, AuditEntry } from "../../../application/usage/audit.ts";
import { type AuditFormat, auditFormats, auditText } from "../../../application/usage/audit-format.ts";
import type { ReportUsage, UsageReport } from "../../../application/usage/usage-report.ts";
import { vary } from "../../kernel/headers.ts";
import { disconnectSignal } from "../../kernel/middleware.ts";
import { namedSchema } from "../../kernel/named-schema.ts";
import { type Operation, pathParams, queryParams } from "../../kernel/operation.ts";
import { adminOperation, apiKey, count, ok, time } from "./admin-operation.ts";

const totals = { requests: count, characters: count };

const usageReport = namedSchema("UsageReport", {
  apiKey: z.string(),
  month: z.string(),
  asOf: time,
  quota: z
    .int()
    .nullable()
    .exactOptional()
    .meta({ description: "The quota at that time; absent if the key was not yet issued." }),
  ...totals,
  voided: z.object(totals).meta({
    description: "Requests that were voided because no audio was delivered (503); not in the other totals.",
  }),
  byDay: z.array(z.object({ ...totals, day: z.string() })),
  byEngine: z.array(z.object({ ...totals, engine: z.string() })),
  byVoice: z.array(z.object({ ...totals, voice: z.string() })),
}) satisfies z.ZodType<UsageReport>;

export const usageOperation = ({ reportUsage }: { reportUsage: ReportUsage }): Operation =>
  adminOperation({
    method: "get",
    path: "/admin/keys/{apiKey}/usage",
    id: "reportUsage",
    summary: "Report a month's totals by day, engine and voice, now or as of a time",
    params: pathParams({ apiKey }),
    query: queryParams(z.object({ month: z.string().optional(), asOf: z.string().optional() })),
    responses: ok("The totals.", usageReport),
    errors: [503],
    handle: ({ params, query }, _, ctx) =>
      reportUsage({ ...params, ...query, signal: disconnectSignal(ctx) }),
  });

/** A line of the audit in NDJSON. */
const auditEntry = namedSchema("AuditEntry", {
  position: count.meta({ description: "The position in the log, for `after`." }),
  stream: z.string(),
  revision: count.meta({ description: "Counts from 0 in its stream, without gaps." }),
  id: z.string(),
  type: z.string(),
  at: z.string().meta({ description: "When the event was recorded, ISO 8601 UTC." }),
  data: z.looseObject({}),
  metadata: z.looseObject({}),
}) satisfies z.ZodType<AuditEntry>;

const auditQuery = z.object({
  apiKey: z.string().min(1).optional(),
  from: z.string().optional(),
  to: z.string().optional(),
  after: z
    .string()
    .regex(/^\d{1,15}$/, { error: "Must be the position of an entry." })
    .transform(Number)
    .optional(),
  format: z.enum(auditFormats).optional(),
});

const contentTypes: Readonly<Record<AuditFormat, string>> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv; charset=utf-8; header=present",
};

/**
 * The audit is complete if the response ends with the last chunk of its chunked encoding; an error destroys the connection
 * instead, which every client detects (curl exits with 18). All complete lines received before are valid: a request with
 * `after` continues behind the last one, and has no entries if none is missing. Gapless revisions prove the same per stream.
 */
export const auditOperation = ({ audit }: { audit: Audit }): Operation =>
  adminOperation({
    method: "get",
    path: "/admin/audit",
    id: "audit",
    summary: "Read the events of the log, up to its current end",
    query: queryParams(auditQuery),
    responses: {
      200: {
        description:
          "One entry per line. Complete if the response ends normally; after an error, `after` continues it.",
        headers: vary,
        content: { "application/x-ndjson": { schema: auditEntry }, "text/csv": { schema: z.string() } },
      },
    },
    errors: [404, 503],
    handle: async ({ query: { format: requested, ...request } }, _, ctx) => {
      const format = requested ?? acceptedFormat(ctx);
      const text = Readable.from(auditText(audit({ ...request, signal: disconnectSignal(ctx) }), format));
      await once(text, "readable"); // an error before the first entry still gets its own status
      ctx.body = text;
      ctx.set({ "Content-Type": contentTypes[format], Vary: "Accept" });
    },
  });

const acceptedFormat = (ctx: Context): AuditFormat =>
  ctx.accepts("application/x-ndjson", "text/csv") === "text/csv" ? "csv" : "ndjson";
