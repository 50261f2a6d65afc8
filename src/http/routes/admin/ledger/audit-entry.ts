import { z } from "zod";
import type { AuditEntry } from "../../../../ledger/audit/audit-entries.ts";
import { namedSchema } from "../../../kernel/named-schema.ts";
import { count } from "../admin-operation.ts";

/** A line of the audit in NDJSON. */
export const auditEntry = namedSchema("AuditEntry", {
  position: count.meta({ description: "The event's position in the log, for `after`." }),
  index: count.meta({ description: "The entry's index within its event, from 0, for `after`." }),
  stream: z.string().meta({ description: "The event's stream. Servings are in `journal-…`." }),
  revision: count.meta({
    description:
      "The event's revision in its stream, from 0. An audit of one key leaves out events of journals.",
  }),
  id: z.string().meta({ description: "The event's id, the same for all of its entries." }),
  type: z.string(),
  at: z.string().meta({ description: "When the event was recorded, ISO 8601 UTC." }),
  data: z.looseObject({}),
  metadata: z.looseObject({}),
}) satisfies z.ZodType<AuditEntry>;

const filter = z.string().min(1).max(200).optional();

/** These members select entries of the log. */
export const eventFilter = {
  apiKey: filter.meta({
    description: "Only this key's own stream, its accounts, and its entries in journals.",
  }),
  stream: filter.meta({ description: "Only streams whose names begin with this text.", examples: ["key-"] }),
  type: filter.meta({ examples: ["SynthesisServed"] }),
  request: filter.meta({
    description:
      "Only what was recorded for the request with this `X-Request-Id`. Of a refused request nothing is recorded, unless it suspended its key: the service's log has it.",
  }),
};
