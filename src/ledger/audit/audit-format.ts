import { stringify } from "csv-stringify/sync";
import { joinIntoChunks } from "../../async/chunks.ts";
import type { AuditEntry } from "./audit-entries.ts";
import { usageCloudEvent } from "./cloud-event.ts";

export const auditFormats = ["ndjson", "csv", "cloudevents"] as const;
export type AuditFormat = (typeof auditFormats)[number];

/**
 * Writes the entries as text, in chunks of complete lines. NDJSON: one entry per line. CSV (RFC
 * 4180): a header, then one entry per row, with `data` and `metadata` as JSON; a leading `'`
 * escapes cells that a spreadsheet would evaluate. CloudEvents: only charges and voids, one JSON
 * event per line. The first chunk is yielded only after entries were read, so an immediate failure
 * precedes any text.
 */
export const auditText = (entries: AsyncIterable<AuditEntry>, format: AuditFormat): AsyncGenerator<string> =>
  joinIntoChunks(auditLines(entries, format));

async function* auditLines(entries: AsyncIterable<AuditEntry>, format: AuditFormat): AsyncGenerator<string> {
  const { head, line } = renderers[format];
  yield head;
  for await (const entry of entries) yield line(entry);
}

const columns = ["position", "index", "stream", "revision", "id", "type", "at", "data", "metadata"];

/** csv-stringify quotes a lone CR or LF in a cell only with `quote_record_delimiter`. */
const csv = { columns, record_delimiter: "windows", quote_record_delimiter: true, escape_formulas: true };

const cloudEventLine = (entry: AuditEntry): string => {
  const event = usageCloudEvent(entry);
  return event ? `${JSON.stringify(event)}\n` : "";
};

const renderers: Record<AuditFormat, { readonly head: string; line(entry: AuditEntry): string }> = {
  ndjson: { head: "", line: (entry) => `${JSON.stringify(entry)}\n` },
  cloudevents: { head: "", line: cloudEventLine },
  csv: { head: stringify([], { ...csv, header: true }), line: (entry) => stringify([entry], csv) },
};
