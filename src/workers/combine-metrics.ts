/**
 * How the values of a metric from several processes are combined. Metrics without one are added up.
 */
export type Combination = "max" | "min";

interface Family {
  readonly head: string[];
  type: string;
  readonly series: Map<string, number>;
}

type Families = Map<string, Family>;

/**
 * Combines the metrics of several processes, in Prometheus' text format. `combinations`: by the
 * names of metrics.
 */
export const combineMetrics = (
  texts: readonly string[],
  combinations: ReadonlyMap<string, Combination>,
): string => {
  const families: Families = new Map();
  for (const text of texts) addText(families, text, combinations);
  return textOf(families);
};

/** Returns only the metrics that never decrease, which can be added to those of later processes. */
export const countersOf = (text: string): string => {
  const families: Families = new Map();
  addText(families, text, new Map());
  for (const [name, { type }] of families)
    if (type !== "counter" && type !== "histogram") families.delete(name);
  return textOf(families);
};

const addText = (families: Families, text: string, combinations: ReadonlyMap<string, Combination>): void => {
  let family: Family = { head: [], type: "", series: new Map() };
  let name = "";
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, kind, described = "", rest = ""] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (kind) {
      name = described;
      family = families.get(name) ?? { head: [], type: "", series: new Map() };
      families.set(name, family);
      if (!family.head.includes(line)) family.head.push(line);
      if (kind === "TYPE") family.type = rest;
      continue;
    }
    const end = line.lastIndexOf(" ");
    const series = line.slice(0, end);
    const value = Number(
      line
        .slice(end + 1)
        .replace("+Inf", "Infinity")
        .replace("-Inf", "-Infinity"),
    );
    const before = family.series.get(series);
    family.series.set(series, before === undefined ? value : combine(before, value, combinations.get(name)));
  }
};

const combine = (one: number, other: number, combination: Combination | undefined): number => {
  if (combination === "max") return Math.max(one, other);
  if (combination === "min") return Math.min(one, other);
  return one + other;
};

const textOf = (families: Families): string =>
  [...families.values()]
    .flatMap(({ head, series }) => [
      ...head,
      ...[...series].map(([name, value]) => `${name} ${formOf(value)}`),
    ])
    .map((line) => `${line}\n`)
    .join("");

const formOf = (value: number): string => {
  if (Math.abs(value) === Number.POSITIVE_INFINITY) return value > 0 ? "+Inf" : "-Inf";
  return String(value);
};
