import { z } from "zod";
import type { ShowUsage, UsageOverview } from "../../../../ledger/reports/usage-overview.ts";
import { namedSchema } from "../../../kernel/named-schema.ts";
import type { Operation } from "../../../kernel/operation.ts";
import { adminOperation, count, ok, time } from "../admin-operation.ts";

const counted = z.object({ requests: count, characters: count });
const day = z.iso.date();

const period = z.object({
  from: day.meta({ description: "The first day (UTC)." }),
  ...counted.shape,
  voided: counted.meta({ description: "Servings that were voided later, not in the totals." }),
  served: z
    .object({ miss: counted, coalesced: counted, memory: counted, store: counted })
    .meta({ description: "By where the audio came from, with voided servings." }),
});

const usageOverview = namedSchema("UsageOverview", {
  asOf: time,
  asOfPosition: count.meta({
    description: "The totals include every serving up to this position of the log, and none that follows.",
  }),
  isComplete: z.boolean().meta({
    description:
      "False while the instance reads the log of the last month, or cannot read it: later servings are missing.",
  }),
  today: period,
  month: period,
  days: z
    .array(z.object({ day, engines: z.record(z.string(), counted) }))
    .meta({ description: "Today and the 30 days before, by engine, the earliest first." }),
}) satisfies z.ZodType<UsageOverview>;

export const usageOverviewOperation = ({ showUsage }: { showUsage: ShowUsage }): Operation =>
  adminOperation({
    method: "get",
    path: "/admin/usage",
    id: "showUsage",
    summary: "Show what all instances have served to all keys today, this month and by day (UTC)",
    responses: ok("The totals of the ledger.", usageOverview),
    errors: [503],
    handle: () => showUsage(),
  });
