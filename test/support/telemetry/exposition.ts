/** One value of a Prometheus exposition. */
export interface Sample {
  /** The name, which ends with `_bucket`, `_sum` or `_count` for samples of a histogram. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)/gy;
const types = new Set(["counter", "gauge", "histogram"]);

/**
 * Parses the text format, version 0.0.4, more strictly than Prometheus. Every family must be
 * contiguous, and have its HELP and its one TYPE before its samples. No series may be repeated.
 * Counters must end in `_total`, and a histogram's buckets must grow up to its count.
 * @throws on a violation
 */
export const parseExposition = (text: string): Sample[] => {
  const families = new Map<string, string>();
  const series = new Set<string>();
  const samples: Sample[] = [];
  let help: string | undefined;
  let current = "";
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === "HELP") help = name;
    else if (keyword === "TYPE") {
      must(metricName.test(name) && help === name && !families.has(name) && types.has(rest), line);
      families.set(name, rest);
      current = name;
    } else {
      const sample = sampleOf(line);
      must(familyOf(sample.name, families.get(current)) === current, line);
      must(families.get(current) !== "counter" || current.endsWith("_total"), line);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()]);
      must(!series.has(key), line);
      series.add(key);
      samples.push(sample);
    }
  }
  for (const [name, type] of families) if (type === "histogram") mustGrow(name, samples);
  return samples;
};

/** The sum of the samples of that name that have at least these labels; 0 when there are none. */
export const sumOf = (
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number =>
  samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([key, value]) => sample.labels[key] === value))
    .reduce((sum, { value }) => sum + value, 0);

const must = (holds: boolean, line: string): void => {
  if (!holds) throw new Error(`no line of an exposition: ${line}`);
};

const sampleOf = (line: string): Sample => {
  const [, name = "", labels = "", number = ""] = sampleLine.exec(line) ?? [];
  const pairs = [...labels.matchAll(label)];
  must(pairs.map(([whole]) => whole).join("") === labels, line);
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
  must(name !== "" && number !== "" && !Number.isNaN(value), line);
  return { name, labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])), value };
};

const familyOf = (name: string, type: string | undefined): string =>
  type === "histogram" ? name.replace(/_(bucket|sum|count)$/, "") : name;

const mustGrow = (name: string, samples: readonly Sample[]): void => {
  const buckets = Map.groupBy(
    samples.filter((sample) => sample.name === `${name}_bucket`),
    ({ labels: { le: _, ...others } }) => JSON.stringify(others),
  );
  for (const [labels, ofSeries] of buckets) {
    const bounds = ofSeries.map(({ labels: { le } }) =>
      le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le),
    );
    const values = ofSeries.map(({ value }) => value);
    const count = sumOf(samples, `${name}_count`, JSON.parse(labels));
    must(isSorted(bounds) && isSorted(values) && bounds.at(-1) === Number.POSITIVE_INFINITY, name);
    must(values.at(-1) === count, name);
  }
};

const isSorted = (values: readonly number[]): boolean =>
  values.every((value, index) => index === 0 || value >= (values[index - 1] ?? value));
