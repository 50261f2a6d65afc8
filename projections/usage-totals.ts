import type { ServingVoided, SynthesisServed } from "../src/domain/usage/usage.ts";
import type { Projection } from "./projection.ts";

export interface UsageCount {
  requests: number;
  characters: number;
}

/** A key's usage in one month. */
export interface UsageTotals {
  /** By day, engine and voice (see `cellKey`), without voided servings. */
  cells: Record<string, UsageCount>;
  /** Voided servings. */
  voided: UsageCount;
  /** The last folded revision, -1 before the first: an event that is delivered twice counts once. */
  revision: number;
}

export type Dimension = "day" | "engine" | "voice";

/** Totals by day, engine and voice. Partition: `usage-{apiKey}-{yyyy-mm}`. The day is that of the event's `at`, in UTC. */
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

type CellOf = Pick<SynthesisServed, "at" | "engine" | "voice">;

const cellOf = ({ cells }: UsageTotals, serving: CellOf): UsageCount => {
  const key = cellKey(serving);
  cells[key] ??= { requests: 0, characters: 0 };
  return cells[key];
};

const add = (count: UsageCount, requests: number, characters: number): void => {
  count.requests += requests;
  count.characters += characters;
};

/** The totals by one dimension, sorted by its names. */
export const totalsBy = (dimension: Dimension, { cells }: UsageTotals): [name: string, UsageCount][] => {
  const sums = new Map<string, UsageCount>();
  for (const [key, { requests, characters }] of Object.entries(cells)) {
    const name = parseCellKey(key)[dimension];
    const sum = sums.get(name) ?? { requests: 0, characters: 0 };
    sum.requests += requests;
    sum.characters += characters;
    sums.set(name, sum);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1));
};

/** Begins with the day, so that no voice name (`__proto__`, `constructor`) is a key by itself. */
const cellKey = ({ at, engine, voice }: CellOf): string => `${at.slice(0, 10)} ${engine} ${voice}`;

/** Days and engine codes contain no space; voice names may. */
const parseCellKey = (key: string): Record<Dimension, string> => {
  const gap = key.indexOf(" ", 11);
  return { day: key.slice(0, 10), engine: key.slice(11, gap), voice: key.slice(gap + 1) };
};
