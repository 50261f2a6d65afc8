/** Text output in aligned columns. */

/** One line per pair; undefined values are omitted. */
export const fields = (pairs: Readonly<Record<string, string | undefined>>): string => {
  const present = Object.entries(pairs).filter(([, value]) => value !== undefined);
  return columns(present.map(([name, value = ""]) => [name, value]));
};

/** A header line and one line per row, or `none` without rows. */
export const table = (
  names: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string => (rows.length === 0 ? none : columns([names.map((name) => name.toUpperCase()), ...rows]));

export const count = (value: number): string => value.toLocaleString("en-US");

const columns = (rows: readonly (readonly string[])[]): string => {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, i) => Math.max(most[i] ?? 0, cell.length)),
    [],
  );
  const line = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
};
