import { createHash } from "node:crypto";
import { z } from "zod";
import type { Partition, Snapshot, SnapshotRange } from "./snapshot.ts";

/** Partitions written between two turns of the event loop. */
const chunk = 500;

const landmark = z.object({ position: z.int().nonnegative(), id: z.string().min(1) });
const head = z.object({ from: landmark });
const partition = z.tuple([z.string(), z.int().nonnegative(), z.unknown()]);
const tail = z.object({ upTo: landmark, count: z.int().nonnegative() });
const end = z.object({ sha256: z.string() });

/**
 * A snapshot as lines of JSON, some at a time: where it begins, each partition, where it ends, and the checksum of all that.
 * The partitions may go on changing meanwhile.
 */
export function* serializeSnapshot(
  partitions: ReadonlyMap<string, Partition>,
  span: () => SnapshotRange,
): Generator<string> {
  const sum = createHash("sha256");
  const summed = (text: string): string => {
    sum.update(text);
    return text;
  };
  let lines = line({ from: span().from });
  let count = 0;
  for (const [name, { position, state }] of partitions) {
    lines += line([name, position, state]);
    if (++count % chunk !== 0) continue;
    yield summed(lines);
    lines = "";
  }
  yield summed(lines + line({ upTo: span().upTo, count }));
  yield line({ sha256: sum.digest("hex") });
}

/** @throws on anything that is not a whole snapshot. */
export const parseSnapshot = async (text: AsyncIterable<string>): Promise<Snapshot> => {
  const sum = createHash("sha256");
  const partitions = new Map<string, Partition>();
  let span: Partial<SnapshotRange> = {};
  for await (const written of linesOf(text)) {
    const value: unknown = JSON.parse(written);
    const { from, upTo } = span;
    if (from && upTo) {
      mustBe(sum.digest("hex"), end.parse(value).sha256);
      return { span: { from, upTo }, partitions };
    }
    sum.update(`${written}\n`);
    if (!from) span = head.parse(value);
    else if (Array.isArray(value)) {
      const [name, position, state] = partition.parse(value);
      partitions.set(name, { position, state });
    } else {
      const found = tail.parse(value);
      mustBe(found.count, partitions.size);
      span = { from, upTo: found.upTo };
    }
  }
  throw new Error("the snapshot has no end");
};

const line = (value: object): string => `${JSON.stringify(value)}\n`;

/** Whole lines, ended by a line feed alone: JSON leaves other separators of lines as they are in its strings. */
async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const part of text) {
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

const mustBe = (found: unknown, wanted: unknown): void => {
  if (found !== wanted) throw new Error("the snapshot is damaged");
};
