import { z } from "zod";
import { auditPlace } from "../../../../ledger/audit/audit.ts";
import type { CountEvents, EventCounts } from "../../../../ledger/audit/event-counts.ts";
import type { EventLog, EventsPage } from "../../../../ledger/audit/event-log.ts";
import { disconnectSignal } from "../../../kernel/middleware.ts";
import { namedSchema } from "../../../kernel/named-schema.ts";
import { type Operation, queryParams } from "../../../kernel/operation.ts";
import { adminOperation, count, ok, time } from "../admin-operation.ts";
import { auditEntry, eventFilter } from "./audit-entry.ts";

const eventsQuery = z.object({
  ...eventFilter,
  from: z
    .string()
    .optional()
    .meta({ description: "A date or a time, inclusive.", examples: ["2026-11-01"] }),
  to: z.string().optional().meta({ description: "A date or a time, exclusive." }),
  after: auditPlace
    .optional()
    .meta({ description: "`next` of the page before. Default: `from`, or the log's beginning." }),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(25)
    .default(0)
    .meta({ description: "At the end of the log, wait for an entry, for this many seconds at most." }),
});

const asOfPosition = count.meta({ description: "The position up to which the log was read." });

const eventsPage = namedSchema("EventsPage", {
  entries: z.array(auditEntry),
  next: z
    .string()
    .exactOptional()
    .meta({ description: "The place at which the next page starts, for `after`." }),
  asOfPosition,
  caughtUp: z.boolean().meta({
    description:
      "Whether the end of the log, or of the period, was reached. A page reads a bounded number of events: it may have no entries before the end.",
  }),
}) satisfies z.ZodType<EventsPage>;

const countsQuery = z.object({
  ...eventFilter,
  from: z.string().meta({ description: "A date or a time, inclusive.", examples: ["2026-11-01T08:00:00Z"] }),
  to: z.string().meta({
    description: "A date or a time, exclusive, at most a day later.",
    examples: ["2026-11-01T09:00:00Z"],
  }),
});

const eventCounts = namedSchema("EventCounts", {
  minutes: z
    .array(
      z.object({
        minute: time,
        entries: count,
        byType: z.record(z.string(), count),
        first: count.meta({ description: "The position of the minute's first event." }),
        last: count.meta({ description: "The position of the minute's last event." }),
      }),
    )
    .meta({ description: "Minutes without entries are left out." }),
  entries: count,
  asOfPosition,
}) satisfies z.ZodType<EventCounts>;

/** `/admin/events` and `/admin/events/counts` */
export const eventOperations = ({
  eventLog,
  countEvents,
}: {
  readonly eventLog: Pick<EventLog, "page">;
  readonly countEvents: CountEvents;
}): Operation[] => [
  adminOperation({
    method: "get",
    path: "/admin/events",
    id: "listEvents",
    summary: "List entries of the log, a page at a time, or wait for new ones",
    query: queryParams(eventsQuery),
    responses: ok("A page of entries, in order of position.", eventsPage),
    errors: [404, 410, 503],
    handle: ({ query: { wait, ...query } }, _, ctx) =>
      eventLog.page({ ...query, waitMs: wait * 1_000, signal: disconnectSignal(ctx) }),
  }),
  adminOperation({
    method: "get",
    path: "/admin/events/counts",
    id: "countEvents",
    summary: "Count the entries of at most a day by minute (UTC) and type",
    query: queryParams(countsQuery),
    responses: ok("The counts.", eventCounts),
    errors: [404, 410, 503],
    handle: ({ query }, _, ctx) => countEvents({ ...query, signal: disconnectSignal(ctx) }),
  }),
];
