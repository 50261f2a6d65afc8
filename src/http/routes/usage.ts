import type { Context } from "koa";
import { z } from "zod";
import { Forbidden } from "../../domain/errors.ts";
import { addMonths } from "../../domain/ledger/month.ts";
import { instantError, month } from "../../domain/ledger/period.ts";
import type { OwnUsage, ReportOwnUsage } from "../../ledger/reports/own-usage.ts";
import { noStore } from "../caching/cache-control.ts";
import { disconnectSignal } from "../kernel/middleware.ts";
import { namedSchema } from "../kernel/named-schema.ts";
import { json, type Operation, operation, queryParams } from "../kernel/operation.ts";
import type { PublicUrl } from "../kernel/public-url.ts";
import { callerIn } from "../kernel/request-state.ts";

const count = z.int().min(0);
const totals = { requests: count, characters: count };
const link = z.object({ href: z.url() });

const ownUsage = namedSchema("OwnUsage", {
  month: z.string().meta({ description: "The calendar month (UTC)." }),
  asOf: z.iso.datetime(),
  finalUntil: z.iso.datetime().meta({
    description: "Charges up to this time are final. Later servings may still be added as of the same time.",
  }),
  used: count.meta({ description: "Characters." }),
  limit: z
    .int()
    .nullable()
    .meta({ description: "The plan's characters per month as of that time; null: unlimited." }),
  remaining: count.nullable(),
  reset: z.iso
    .datetime()
    .meta({ description: "The end of the month: then the next month's characters become available." }),
  requests: count,
  byDay: z.array(z.object({ ...totals, day: z.string() })),
  byEngine: z.array(z.object({ ...totals, engine: z.string() })),
  byVoice: z.array(z.object({ ...totals, voice: z.string() })),
}) satisfies z.ZodType<OwnUsage>;

const OwnUsageResponse = namedSchema("OwnUsageResponse", {
  ...ownUsage.shape,
  _links: z.object({ self: link, previousMonth: link }),
});

const usageQuery = z.object({
  month: month.optional().meta({ description: "Default: the month of `asOf`.", examples: ["2026-11"] }),
  asOf: z
    .union([z.iso.date(instantError), z.iso.datetime({ offset: true, error: instantError })])
    .optional()
    .meta({ description: "A date (its midnight, UTC) or a time. Default: now.", examples: ["2026-11-20"] }),
});

/** `GET /v2/usage`: a key's own month. */
export const ownUsageOperation = ({
  reportOwnUsage,
  publicUrl,
}: {
  readonly reportOwnUsage: ReportOwnUsage;
  readonly publicUrl: PublicUrl;
}): Operation =>
  operation({
    method: "get",
    path: "/v2/usage",
    id: "readUsage",
    tag: "Access",
    summary: "Read the key's usage in a month, its limit, and when the limit resets",
    description:
      "Only with the key's secret, or a token that was issued for it: anyone can read a page's key. Suspended keys may read it.",
    auth: "website, even suspended",
    cache: [noStore],
    query: queryParams(usageQuery),
    responses: { 200: { description: "The usage.", content: json(OwnUsageResponse) } },
    errors: [400, 403, 410, 503],
    handle: async ({ query }, ctx) => {
      const apiKey = keyWithSecret(ctx);
      const base = `${publicUrl(ctx.req)}/v2/usage`;
      const usage = await reportOwnUsage({ apiKey, ...query, signal: disconnectSignal(ctx) });
      const linkTo = (month: string) => ({ href: `${base}?month=${month}` });
      return {
        ...usage,
        _links: { self: linkTo(usage.month), previousMonth: linkTo(addMonths(usage.month, -1)) },
      };
    },
  });

/**
 * The key of a caller that has proved to have its secret.
 * @throws {Forbidden}
 */
export const keyWithSecret = (ctx: Context): string => {
  const { principal } = callerIn(ctx.state);
  if (principal.proof.by === "secret") return principal.apiKey;
  throw new Forbidden("Usage is readable only with the key's secret, or a token that was issued for it.");
};
