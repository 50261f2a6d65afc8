import { z } from "zod";
import type { ExportKeyMonth } from "../../../../ledger/proof/key-month-export.ts";
import { disconnectSignal } from "../../../kernel/middleware.ts";
import { namedSchema } from "../../../kernel/named-schema.ts";
import { type Operation, pathParams, queryParams } from "../../../kernel/operation.ts";
import { respondWithText } from "../../../kernel/respond.ts";
import { adminOperation, apiKey, count } from "../admin-operation.ts";

const exportedEvent = namedSchema("ExportedEvent", {
  digest: z
    .string()
    .meta({ description: "SHA-256 (hex) of the rest of the line, in canonical JSON (RFC 8785)." }),
  line: count,
  position: count,
  stream: z.string(),
  revision: count,
  id: z.string(),
  type: z.string(),
  created: count.meta({ description: "When it was stored, in milliseconds since the epoch." }),
  data: z.looseObject({}),
  metadata: z.looseObject({}),
  inclusion: z
    .object({ index: count, path: z.array(z.string()) })
    .exactOptional()
    .meta({
      description: "The leaf's index and the hashes (base64) from it to the root of the sealed tree.",
    }),
});

const exportEnd = namedSchema("ExportEnd", {
  lines: count,
  note: z
    .string()
    .meta({ description: "A signed note (https://c2sp.org/signed-note) over all bytes before." }),
});

/** `/admin/keys/{apiKey}/proof` */
export const proofOperation = ({ exportKeyMonth }: { readonly exportKeyMonth: ExportKeyMonth }): Operation =>
  adminOperation({
    method: "get",
    path: "/admin/keys/{apiKey}/proof",
    id: "exportKeyMonth",
    summary:
      "Export a key's month as of the last seal, so that anyone can verify it with the public seal key",
    description:
      "One event per line, with its line number, a digest, and a proof that the sealed Merkle tree has the event: the seal, then the key's own stream, its usage account and quota of the month, the registry of journals, and the journals that may hold its entries, each from its beginning. The last line is a signed note over all bytes. The console verifies it in the browser.",
    params: pathParams({ apiKey }),
    query: queryParams(
      z.object({
        month: z
          .string()
          .optional()
          .meta({ description: "The month (UTC). Default: the current one.", examples: ["2026-11"] }),
      }),
    ),
    responses: {
      200: {
        description: "Complete if the response ends normally, with the signed note.",
        content: { "application/x-ndjson": { schema: z.union([exportedEvent, exportEnd]) } },
      },
    },
    errors: [404, 410, 503],
    handle: async ({ params, query }, _, ctx) => {
      const lines = exportKeyMonth({ ...params, ...query, signal: disconnectSignal(ctx) });
      await respondWithText(ctx, lines, "application/x-ndjson");
    },
  });
