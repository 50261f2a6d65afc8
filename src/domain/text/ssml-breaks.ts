/** Limits of silence: a thousand breaks of ten seconds would be a small request for much audio. */
const max = { breakMs: 10_000, documentMs: 60_000 };

/** Assumed duration of each strength; no engine pauses longer. */
const strengthMs: Readonly<Record<string, number>> = {
  none: 0,
  "x-weak": 250,
  weak: 500,
  medium: 1000,
  strong: 1500,
  "x-strong": 2000,
};

type BreakAttributes = Readonly<Record<string, string>>;

/** Shortens the breaks of a document, in order, to the limits. */
export const breakBudget = (): ((attributes: BreakAttributes) => BreakAttributes) => {
  let left = max.documentMs;
  return ({ time, strength = "medium" }) => {
    if (time !== undefined) {
      const ms = Math.min(milliseconds(time), max.breakMs, left);
      left -= ms;
      return { time: `${ms}ms` };
    }
    const ms = strengthMs[strength] ?? max.breakMs;
    if (ms > left) return { strength: "none" };
    left -= ms;
    return { strength };
  };
};

/** The duration of a break that has passed the budget. */
export const breakMs = ({ time, strength = "medium" }: BreakAttributes): number =>
  time === undefined ? (strengthMs[strength] ?? 0) : milliseconds(time);

export const milliseconds = (time: string): number =>
  Math.round(time.endsWith("ms") ? Number(time.slice(0, -2)) : Number(time.slice(0, -1)) * 1000);
