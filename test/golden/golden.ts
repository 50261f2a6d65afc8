import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { diff } from "node:util";
import { expect } from "chai";
import { ImmutableMap } from "../../src/domain/immutable-map.ts";
import { RecentIds } from "../../src/domain/recent-ids.ts";

const folder = join(import.meta.dirname, "files");

/** `GOLDEN=update` rewrites the golden files from the present behaviour. */
const isUpdate = process.env.GOLDEN === "update";

/**
 * Compares a text, or a value as JSON, with the file of that name under test/golden/files. A
 * failure lists the lines that differ: `-` as recorded, `+` as they are now.
 */
export const expectGolden = (file: string, actual: unknown): void => {
  const path = join(folder, file);
  const now = typeof actual === "string" ? actual : `${written(plain(actual))}\n`;
  if (isUpdate) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, now);
    return;
  }
  const recorded = readFileSync(path, "utf8");
  if (now === recorded) return;
  expect.fail(
    `${file} differs (GOLDEN=update npm run test:golden records it):\n${differences(recorded, now)}`,
  );
};

/** JSON has no maps, no sets and no undefined: they become lists of entries, lists and null. */
export const plain = (value: unknown): unknown => {
  if (value === undefined) return null;
  if (value instanceof Map || value instanceof Set) return plain([...value]);
  if (value instanceof ImmutableMap) return plain(value.entries);
  if (value instanceof RecentIds) return value.values();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, inner]) => typeof inner !== "function");
  return Object.fromEntries(members.map(([key, inner]) => [key, plain(inner)]));
};

/** JSON in which every list and object that fits into a line has one line. */
export const written = (value: unknown, width = 200, indent = ""): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const members = Array.isArray(value)
    ? value.map((element) => written(element, width, inner))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${written(one, width, inner)}`);
  const line = `${open}${members.join(", ")}${close}`;
  if (indent.length + line.length <= width && !line.includes("\n")) return line;
  return `${open}\n${members.map((member) => inner + member).join(",\n")}\n${indent}${close}`;
};

const context = 4;
const maxLines = 120;

const differences = (recorded: string, now: string): string => {
  const lines = diff(recorded.split("\n"), now.split("\n"));
  const changed = lines.flatMap(([operation], index) => (operation === 0 ? [] : [index]));
  const isNear = (index: number) => changed.some((one) => Math.abs(one - index) <= context);
  const shown = lines.flatMap(([operation, line], index) => {
    if (operation === 0) return isNear(index) ? [`  ${line}`] : [];
    return [`${operation === 1 ? "-" : "+"} ${line}`];
  });
  const more = shown.length - maxLines;
  return [...shown.slice(0, maxLines), ...(more > 0 ? [`… and ${more} more lines`] : [])].join("\n");
};
