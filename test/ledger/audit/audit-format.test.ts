import { expect } from "chai";
import fc from "fast-check";
import type { AuditEntry } from "../../../src/ledger/audit/audit-entries.ts";
import { type AuditFormat, auditFormats, auditText } from "../../../src/ledger/audit/audit-format.ts";
import { collect } from "../../support/collect.ts";
import { parseCsv } from "../../support/csv.ts";

const header = ["position", "index", "stream", "revision", "id", "type", "at", "data", "metadata"];
/** Includes the full-width signs: spreadsheets treat them like the ASCII ones. */
const formulaStarts = ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"];

const textOf = async (entries: readonly AuditEntry[], format: AuditFormat): Promise<string> => {
  const all = async function* () {
    yield* entries;
  };
  return (await collect(auditText(all(), format))).join("");
};

const word = () =>
  fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("a,b", 'he said "no"', "two\r\nlines", "lone\rCR", "lone\nLF", "", ...formulaStarts),
    fc.string().map((rest) => `=HYPERLINK("https://example.com/${rest}")`),
  );

const anEntry = (): fc.Arbitrary<AuditEntry> =>
  fc.record({
    position: fc.nat(),
    index: fc.nat(),
    stream: word(),
    revision: fc.nat(),
    id: fc.uuid(),
    type: word(),
    at: fc.constant("2026-11-05T10:00:00.000Z"),
    data: fc.record({ reason: word() }),
    metadata: fc.record({ actor: word() }),
  });

describe("an audit formatted as text", () => {
  it("has one line of JSON per entry", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anEntry(), { maxLength: 20 }), async (entries) => {
        const lines = (await textOf(entries, "ndjson")).split("\n");
        expect(lines.pop()).to.equal("");
        expect(lines.map((line) => JSON.parse(line))).to.deep.equal(entries);
      }),
    );
  });

  it("has, as CSV, a header and rows that parse to the same entries, with formulas neutralized", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anEntry(), { maxLength: 20 }), async (entries) => {
        const rows = parseCsv(await textOf(entries, "csv"));
        expect(rows).to.deep.equal([header, ...entries.map(cellsOf)]);
        expect(
          rows.flat().filter((cell) => formulaStarts.some((start) => cell.startsWith(start))),
        ).to.deep.equal([]);
      }),
    );
  });

  it("is empty, or only the CSV header, for an empty audit", async () => {
    expect(await textOf([], "ndjson")).to.equal("");
    expect(await textOf([], "csv")).to.equal(`${header.join(",")}\r\n`);
  });

  it("is split into small chunks of complete lines", async () => {
    const entry: AuditEntry = {
      position: 1,
      index: 0,
      stream: "catalog",
      revision: 0,
      id: "e",
      type: "VoiceAdded",
      at: "2026-11-05T10:00:00.000Z",
      data: { name: "n".repeat(500) },
      metadata: {},
    };
    async function* long() {
      for (let position = 0; position < 5_000; position++) yield { ...entry, position };
    }
    for (const format of auditFormats) {
      const chunks = await collect(auditText(long(), format));
      expect(chunks.every((chunk) => chunk.endsWith("\n"))).to.equal(true);
      expect(Math.max(...chunks.map(({ length }) => length))).to.be.below(100_000);
    }
  });
});

const cellsOf = ({ position, index, stream, revision, id, type, at, data, metadata }: AuditEntry): string[] =>
  [
    String(position),
    String(index),
    stream,
    String(revision),
    id,
    type,
    at,
    JSON.stringify(data),
    JSON.stringify(metadata),
  ].map((cell) => (formulaStarts.some((start) => cell.startsWith(start)) ? `'${cell}` : cell));
