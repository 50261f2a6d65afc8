import type { ServingVoided, SynthesisServed } from "../src/domain/usage/usage.ts";
import type { Projection } from "./projection.ts";

export interface UsageCount {
  requests: number;
  characters: number;
}

/** What one key was served in one month; the partition is its stream, `usage-{apiKey}-{yyyy-mm}`. */
export interface UsageTotals {
  /** One tally for each day, engine and voice that met, under `cellKey`; without the voided servings. */
  cells: Record<string, UsageCount>;
  /** The servings that were voided. */
  voided: UsageCount;
  /** The last revision counted, -1 before the first: an event told twice counts once. */
  revision: number;
}

/** The totals along one side: characters and requests by day, by engine, or by voice. */
export type Dimension = "day" | "engine" | "voice";

/** Totals of days, engines and voices. The day is that of the event's own `at`, in UTC, never of when it was stored. */
export const usageTotals: Projection<UsageTotals> = {
  name: "usage-totals",
  version: 2,
  prefixes: ["usage-"],
  partition: ({ stream }) => stream,
  initial: () => ({ cells: {}, voided: { requests: 0, characters: 0 }, revision: -1 }),
  apply: (state, event) => {
    if (event.revision <= state.revision) return state;
    if (event.type === "SynthesisServed") {
      const data = event.data as SynthesisServed;
      add(cellOf(state, data), 1, data.characters);
    } else if (event.type === "ServingVoided") {
      const { serving, characters } = event.data as ServingVoided;
      if (serving) {
        add(cellOf(state, serving), -1, -characters);
        add(state.voided, 1, characters);
      }
    } else return state;
    state.revision = event.revision;
    return state;
  },
};

/** Where a serving is counted. */
type Placed = Pick<SynthesisServed, "at" | "engine" | "voice">;

const cellOf = ({ cells }: UsageTotals, placed: Placed): UsageCount => {
  const key = cellKey(placed);
  cells[key] ??= { requests: 0, characters: 0 };
  return cells[key];
};

const add = (tally: UsageCount, requests: number, characters: number): void => {
  tally.requests += requests;
  tally.characters += characters;
};

/** The sum of the cells that share a day, an engine or a voice, in the order of its names. */
export const totalsBy = (side: Dimension, { cells }: UsageTotals): [name: string, UsageCount][] => {
  const sums = new Map<string, UsageCount>();
  for (const [key, { requests, characters }] of Object.entries(cells)) {
    const name = parseCellKey(key)[side];
    const sum = sums.get(name) ?? { requests: 0, characters: 0 };
    sum.requests += requests;
    sum.characters += characters;
    sums.set(name, sum);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
};

/** Begins with the day, so that no voice's name (`__proto__`, `constructor`) can ever be a key by itself. */
const cellKey = ({ at, engine, voice }: Placed): string => `${at.slice(0, 10)} ${engine} ${voice}`;

/** Days and engine codes hold no space; a voice's name may. */
const parseCellKey = (key: string): Record<Dimension, string> => {
  const gap = key.indexOf(" ", 11);
  return { day: key.slice(0, 10), engine: key.slice(11, gap), voice: key.slice(gap + 1) };
};
