/**
 * Parses strict RFC 4180: CRLF ends a row, quotes enclose a field, and doubled quotes are an
 * escaped quote.
 */
export const parseCsv = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
  while (cell.lastIndex < text.length) {
    const start = cell.lastIndex;
    const match = cell.exec(text);
    if (!match) throw new Error(`no cell at ${start}: ${JSON.stringify(text.slice(start, start + 40))}`);
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
    if (match[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
};
