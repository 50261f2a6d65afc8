/** Functions that write values for persons. All times are UTC and say so. */

const whole = new Intl.NumberFormat("en-GB");
const short = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });
const share = new Intl.NumberFormat("en-GB", { style: "percent", maximumFractionDigits: 1 });

export const formatCount = (value: number): string => whole.format(value);

/** Writes a number for an axis: `12k`. */
export const formatShort = (value: number): string => short.format(value);

export const formatShare = (part: number, total: number): string =>
  total === 0 ? "–" : share.format(part / total);

/** Writes a time like `2026-11-05 10:00:00 UTC`. */
export const formatTime = (time: string | number): string =>
  `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** Writes the day of a time: `2026-11-05`. */
export const formatDay = (time: string | number): string => new Date(time).toISOString().slice(0, 10);

export const formatBytes = (bytes: number): string => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`;
};

export const formatMilliseconds = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;

/** Writes a quota; null is unlimited. */
export const formatQuota = (quota: number | null | undefined): string =>
  quota === undefined ? "–" : quota === null ? "unlimited" : formatCount(quota);

/**
 * Writes tab-separated values, which spreadsheets paste as cells. Tabs and line ends within a cell
 * become spaces. A leading `'` escapes texts that a spreadsheet would evaluate (OWASP, CSV
 * injection); numbers stay numbers.
 */
export const toTsv = (rows: readonly (readonly (string | number | null | undefined)[])[]): string =>
  rows.map((row) => row.map(tsvCell).join("\t")).join("\n");

const tsvCell = (cell: string | number | null | undefined): string => {
  if (typeof cell === "number") return String(cell);
  const text = (cell ?? "").replaceAll(/[\t\r\n]+/g, " ");
  return /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
};

/** Writes the month of a time: `2026-11`. */
export const monthAt = (time: number): string => new Date(time).toISOString().slice(0, 7);

/** Returns the first instant of the following month. */
export const monthEnd = (month: string): number =>
  Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1);

export const monthStart = (month: string): number => Date.parse(`${month}-01T00:00:00Z`);

export const dayMs = 86_400_000;
