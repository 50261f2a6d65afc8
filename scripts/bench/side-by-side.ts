/**
 * The target for the ratio of `ours` to `bare` (minimum for rates, maximum for times), or for the
 * difference.
 */
export type Aim =
  | { readonly atLeast: number }
  | { readonly atMost: number }
  | { readonly addsAtMost: number };

export interface Subject {
  readonly name: string;
  readonly unit: string;
  readonly aim: Aim;
}

export interface Bench extends Subject {
  /** The number of rounds of each. The result is their median. */
  readonly rounds: number;
  /** The number of rounds before these, whose measurements are ignored. */
  readonly warmUps: number;
  /**
   * `ours` runs a round with the service, `bare` a round of the baseline without it. Both resolve
   * with their measurement.
   */
  readonly ours: () => Promise<number>;
  readonly bare: () => Promise<number>;
}

/** The output of each benchmark, as one line of JSON. */
export interface Figures {
  readonly name: string;
  readonly ours: number;
  readonly bare: number;
  /** The ratio of the medians `ours` and `bare`. */
  readonly ratio: number;
  /** The 95th percentiles. */
  readonly p95: { readonly ours: number; readonly bare: number };
  readonly unit: string;
  readonly aim: string;
}

/**
 * Alternates between the two, so that other load on the machine affects both alike, and prints the
 * medians.
 */
export const sideBySide = async ({ rounds, warmUps, ours, bare, ...subject }: Bench): Promise<void> => {
  const measured = { ours: [] as number[], bare: [] as number[] };
  for (let round = -warmUps; round < rounds; round++) {
    const [us, them] = [await ours(), await bare()];
    if (round < 0) continue;
    measured.ours.push(us);
    measured.bare.push(them);
  }
  console.log(JSON.stringify(figuresOf(subject, measured)));
};

export const figuresOf = (
  { name, unit, aim }: Subject,
  measured: { readonly ours: readonly number[]; readonly bare: readonly number[] },
): Figures => {
  const [ours, bare] = [median(measured.ours), median(measured.bare)];
  return {
    name,
    ours: rounded(ours),
    bare: rounded(bare),
    ratio: Number((ours / bare).toFixed(2)),
    p95: { ours: rounded(highest(measured.ours)), bare: rounded(highest(measured.bare)) },
    unit,
    aim: wordsOf(aim),
  };
};

const wordsOf = (aim: Aim): string => {
  if ("atLeast" in aim) return `≥ ${aim.atLeast}`;
  return "atMost" in aim ? `≤ ${aim.atMost}` : `+ ${aim.addsAtMost}`;
};

export const meetsAim = ({ ours, bare, ratio, aim }: Figures): boolean => {
  const [sign, figure] = aim.split(" ");
  const bound = Number(figure);
  if (sign === "+") return ours - bare <= bound;
  return sign === "≥" ? ratio >= bound : ratio <= bound;
};

/** One line for each aim that was missed. */
export const missedAims = (all: readonly Figures[]): string[] =>
  all
    .filter((one) => !meetsAim(one))
    .map(
      ({ name, ours, bare, ratio, unit, aim }) =>
        `${name}: ${ours} ${unit} against ${bare} ${unit}, ratio ${ratio}, aim ${aim}`,
    );

const highest = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = low] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};

const rounded = (value: number): number => Number(value.toPrecision(3));

/** The rate per second of what `work` does `count` times. */
export const perSecond = async (count: number, work: () => void | Promise<void>): Promise<number> => {
  return (count / (await milliseconds(work))) * 1_000;
};

export const milliseconds = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
