import { stringify } from "csv-stringify/sync";
import type { AuditEntry } from "./audit.ts";

export const auditFormats = ["ndjson", "csv"] as const;
export type AuditFormat = (typeof auditFormats)[number];

/** Characters held back before they are passed on: with the store's batch, all that is in memory. */
const chunkLength = 64 * 1024;

/**
 * The entries as text, a chunk of whole lines at a time. NDJSON: an entry a line. CSV (RFC 4180): a header, then an
 * entry a row, `data` and `metadata` as JSON; a cell that a spreadsheet would take for a formula gets a leading `'`.
 * Nothing comes before the first entries are there, so that what fails at once fails before any text.
 */
export async function* auditText(
  entries: AsyncIterable<AuditEntry>,
  format: AuditFormat,
): AsyncGenerator<string> {
  const { head, line } = renderers[format];
  let chunk = head;
  for await (const entry of entries) {
    chunk += line(entry);
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

const columns = ["position", "stream", "revision", "id", "type", "at", "data", "metadata"];

/** With a given delimiter, a lone CR or LF in a cell is quoted only when `quote_record_delimiter` says so. */
const csv = { columns, record_delimiter: "windows", quote_record_delimiter: true, escape_formulas: true };

const renderers: Record<AuditFormat, { readonly head: string; line(entry: AuditEntry): string }> = {
  ndjson: { head: "", line: (entry) => `${JSON.stringify(entry)}\n` },
  csv: { head: stringify([], { ...csv, header: true }), line: (entry) => stringify([entry], csv) },
};
