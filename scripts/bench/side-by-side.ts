/** What the ratio of ours to bare should be: rates want to be high, times to be low. */
export type Aim = { readonly atLeast: number } | { readonly atMost: number };

export interface Bench {
  readonly name: string;
  readonly unit: string;
  readonly aim: Aim;
  /** Of each; the median counts. */
  readonly rounds: number;
  /** Rounds of each that are run before and not counted. */
  readonly warmUps: number;
  /** One round of the service's way, and one of the same without the service: each answers with its figure. */
  readonly ours: () => Promise<number>;
  readonly bare: () => Promise<number>;
}

/** What each bench prints, as one line of JSON. */
export interface Figures {
  readonly name: string;
  readonly ours: number;
  readonly bare: number;
  readonly ratio: number;
  readonly unit: string;
  readonly aim: string;
}

/** Lets the two take turns, so that whatever else the machine does hits both alike, and prints the medians. */
export const sideBySide = async ({ name, unit, aim, rounds, warmUps, ours, bare }: Bench): Promise<void> => {
  const figures = { ours: [] as number[], bare: [] as number[] };
  for (let round = -warmUps; round < rounds; round++) {
    const [us, them] = [await ours(), await bare()];
    if (round < 0) continue;
    figures.ours.push(us);
    figures.bare.push(them);
  }
  const [us, them] = [median(figures.ours), median(figures.bare)];
  const line: Figures = {
    name,
    ours: rounded(us),
    bare: rounded(them),
    ratio: Number((us / them).toFixed(2)),
    unit,
    aim: "atLeast" in aim ? `≥ ${aim.atLeast}` : `≤ ${aim.atMost}`,
  };
  console.log(JSON.stringify(line));
};

export const meetsAim = ({ ratio, aim }: Figures): boolean => {
  const [sign, bound] = aim.split(" ");
  return sign === "≥" ? ratio >= Number(bound) : ratio <= Number(bound);
};

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low = Number.NaN, high = low] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
};

const rounded = (value: number): number => Number(value.toPrecision(3));

/** How many a second, for so many done by `work`. */
export const perSecond = async (count: number, work: () => void | Promise<void>): Promise<number> => {
  return (count / (await milliseconds(work))) * 1_000;
};

export const milliseconds = async (work: () => unknown): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
