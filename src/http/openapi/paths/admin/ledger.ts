import { z } from "zod";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import * as answers from "../../../routes/admin/answers.ts";
import { auditQuery } from "../../../routes/admin/audit.ts";
import { usageQuery } from "../../../routes/admin/usage.ts";
import { requestId, vary } from "../../headers.ts";
import { apiKey, type Call, shown } from "./call.ts";

/** What the ledger says: usage and audit. */
export const ledgerPaths = (call: Call): ZodOpenApiPathsObject => ({
  "/admin/keys/{apiKey}/usage": {
    get: call({
      id: "reportUsage",
      summary: "A month's totals by day, engine and voice, now or as of a time",
      path: { apiKey },
      query: usageQuery,
      answer: shown("The totals.", answers.usageReport),
      errors: [503],
    }),
  },
  "/admin/audit": {
    get: call({
      id: "audit",
      summary: "The events themselves, up to the end of the log as of now",
      query: auditQuery,
      answer: {
        "200": {
          description:
            "One entry a line. Whole when the response ends well; one that was cut goes on with `after`.",
          headers: z.object({ ...requestId, ...vary }),
          content: {
            "application/x-ndjson": { schema: answers.auditEntry },
            "text/csv": { schema: z.string() },
          },
        },
      },
      errors: [400, 404, 503],
    }),
  },
});
