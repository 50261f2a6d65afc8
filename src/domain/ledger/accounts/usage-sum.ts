import { createInterner } from "../../interner.ts";
import { voidedCharge } from "../journal/charges.ts";
import type { JournalEvent, SynthesesServed } from "../journal/journal.ts";
import type { VoidedServing } from "../journal/serving.ts";
import { monthOf } from "../month.ts";
import { addUsage, noUsage, type UsageCell, type UsageCount, type UsagePosted } from "./usage-account.ts";

interface Count {
  requests: number;
  characters: number;
}

/**
 * Totals by day, engine and voice, under the names of `cellName`. Those of the first cell are
 * stored in place: with 100,000 active keys, which mostly have one cell, a map for each would take
 * 20 MB.
 */
class Cells {
  #name: string | undefined;
  #requests = 0;
  #characters = 0;
  #others: Map<string, Count> | undefined;

  add(name: string, requests: number, characters: number): void {
    this.#name ??= name;
    if (name === this.#name) {
      this.#requests += requests;
      this.#characters += characters;
    } else {
      this.#others ??= new Map();
      addToCell(this.#others, name, { requests, characters });
    }
  }

  /** Yields the cells in the order in which they were first added. */
  *[Symbol.iterator](): Generator<[name: string, count: UsageCount], void> {
    if (this.#name === undefined) return;
    yield [this.#name, { requests: this.#requests, characters: this.#characters }];
    if (this.#others) yield* this.#others;
  }
}

const addToCell = (cells: Map<string, Count>, name: string, count: UsageCount): void => {
  const known = cells.get(name);
  if (known) add(known, count.requests, count.characters);
  else cells.set(name, { ...count });
};

/** Sums up entries of one key and month. Mutable: it is on the path of every serving. */
export class UsageSum {
  requests = 0;
  characters = 0;
  /** Voided servings, which the other totals do not include. */
  voided = noUsage;
  readonly cells = new Cells();
  /** The time of the last entry; empty without any. */
  until = "";
}

/**
 * Returns the sum to which the entries of a key and month are added; undefined to skip them. It is
 * called once per key and event. `index`: the index of the key in `SynthesesServed.keys`.
 */
export type SumOf = (apiKey: string, month: string, index?: number) => UsageSum | undefined;

/** Adds the event's entries. A voided serving belongs to the month and the day of its serving. */
export const addEntries = ({ type, data }: JournalEvent, sumOf: SumOf): void => {
  if (type === "SynthesesServed") addServings(data, sumOf);
  else if (type === "ServingsVoided") {
    for (const voided of data.servings)
      addVoided(voided, data.at, sumOf(voided.apiKey, monthOf(voided.servedAt)));
  } else if (type === "StreamsEnded") {
    for (const { apiKey } of data.streams) {
      const sum = sumOf(apiKey, monthOf(data.at));
      if (sum) sum.until = data.at;
    }
  }
};

const addServings = ({ at, keys, sounds, key, sound, characters }: SynthesesServed, sumOf: SumOf): void => {
  const month = monthOf(at);
  const sums = keys.map((apiKey, index) => sumOf(apiKey, month, index));
  if (!sums.some((sum) => sum !== undefined)) return;
  const day = at.slice(0, 10);
  const names = sounds.map(({ engine, voice }) => cellName(day, engine, voice));
  for (let i = 0; i < key.length; i++) {
    const sum = sums[key[i] as number];
    if (sum === undefined) continue;
    const cost = characters[i] as number;
    sum.requests += 1;
    sum.characters += cost;
    sum.until = at;
    sum.cells.add(names[sound[i] as number] as string, 1, cost);
  }
};

const addVoided = (voided: VoidedServing, at: string, sum: UsageSum | undefined): void => {
  if (!sum) return;
  const { requests, characters, servedAt, engine } = voidedCharge(voided);
  add(sum, requests, characters);
  sum.cells.add(cellName(servedAt.slice(0, 10), engine, voided.voice), requests, characters);
  sum.voided = addUsage(sum.voided, { requests: 0 - requests, characters: voided.characters });
  sum.until = at;
};

/** The sums of a posting. */
type Totals = Pick<UsagePosted, "requests" | "characters" | "voided" | "cells" | "until">;

/** Adds the totals of a posting. */
export const addPosting = (sum: UsageSum, { requests, characters, voided, cells, until }: Totals): void => {
  add(sum, requests, characters);
  sum.voided = addUsage(sum.voided, voided);
  for (const cell of cells) {
    sum.cells.add(cellName(cell.day, cell.engine, cell.voice), cell.requests, cell.characters);
  }
  if (until > sum.until) sum.until = until;
};

/** The totals in the form of a posting. */
export const postedTotals = ({ requests, characters, voided, cells, until }: UsageSum): Totals => ({
  requests,
  characters,
  voided: { ...voided },
  cells: cellsOf(cells),
  until,
});

/** The cells in the order of their names, without those whose servings were all voided. */
const cellsOf = (cells: UsageSum["cells"]): UsageCell[] =>
  [...cells]
    .filter(([, count]) => isUsed(count))
    .sort(byCellName)
    .map(([name, count]) => ({ ...parseCellName(name), ...count }));

const isUsed = ({ requests, characters }: UsageCount): boolean => requests !== 0 || characters !== 0;

const byCellName = ([a]: [string, UsageCount], [b]: [string, UsageCount]): number => (a < b ? -1 : 1);

/**
 * The totals by one dimension, sorted by its names, without those whose servings were all voided.
 */
export const totalsBy = (
  dimension: "day" | "engine" | "voice",
  { cells }: UsageSum,
): [name: string, UsageCount][] => {
  const sums = new Map<string, Count>();
  for (const [cell, count] of cells) addToCell(sums, parseCellName(cell)[dimension], count);
  return [...sums].filter(([, count]) => isUsed(count)).sort(byCellName);
};

const add = (count: Count, requests: number, characters: number): void => {
  count.requests += requests;
  count.characters += characters;
};

/**
 * Returns the same string for equal names: it takes memory once, and comparing it with itself reads
 * no characters.
 */
const intern = createInterner<string>((name) => name);

/** Days and engine codes contain no space; voice names may. */
const cellName = (day: string, engine: string, voice: string): string => intern(`${day} ${engine} ${voice}`);

const parseCellName = (name: string): Omit<UsageCell, keyof UsageCount> => {
  const gap = name.indexOf(" ", 11);
  return { day: name.slice(0, 10), engine: name.slice(11, gap), voice: name.slice(gap + 1) };
};
