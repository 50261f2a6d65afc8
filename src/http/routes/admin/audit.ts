import { once } from "node:events";
import { Readable } from "node:stream";
import Router from "@koa/router";
import type { Context } from "koa";
import { z } from "zod";
import type { Audit } from "../../../application/usage/audit.ts";
import { type AuditFormat, auditFormats, auditText } from "../../../application/usage/audit-format.ts";
import { leaving } from "../../kernel/middleware.ts";
import { parse } from "../../kernel/validation.ts";

export const auditQuery = z.object({
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

const contentTypes: Record<AuditFormat, string> = {
  ndjson: "application/x-ndjson",
  csv: "text/csv; charset=utf-8; header=present",
};

/**
 * GET /admin/audit: the events themselves, NDJSON or CSV, up to the end of the log as of now.
 *
 * A replay is whole when the response ends as HTTP says it must (the last chunk of the chunked encoding); a failure on
 * the way destroys the connection, which every client tells apart (curl exits with 18). What was received
 * stays good up to its last whole line: `after` with that line's position goes on from there, and answers with
 * no entry when none is missing. Revisions without a gap prove the same for each stream.
 */
export const auditRoutes = ({ audit }: { audit: Audit }): Router => {
  const router = new Router({ prefix: "/admin" });
  router.get("/audit", async (ctx) => {
    const { format = formatAccepted(ctx), ...request } = parse(auditQuery, ctx.query);
    const text = Readable.from(auditText(audit({ ...request, signal: leaving(ctx) }), format));
    await once(text, "readable"); // what fails before the first entry is still told with a status of its own
    ctx.body = text;
    ctx.set({ "Content-Type": contentTypes[format], Vary: "Accept" });
  });
  return router;
};

const formatAccepted = (ctx: Context): AuditFormat =>
  ctx.accepts("application/x-ndjson", "text/csv") === "text/csv" ? "csv" : "ndjson";
