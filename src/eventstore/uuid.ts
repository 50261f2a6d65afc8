import { randomFillSync } from "node:crypto";
import type { EpochMs } from "../domain/time.ts";

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const randomPerId = 10;
const pool = Buffer.allocUnsafe(randomPerId * 512);
let used = pool.length;

let lastTime = 0;
let counter = 0;

/**
 * A version 7 UUID in lower case. UUIDs increase strictly within the process, even within a
 * millisecond and when `now` decreases.
 */
export const uuidv7 = (now: EpochMs): string => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const at = used;
  used += randomPerId;
  advance(Math.floor(now), pool.readUInt16BE(at));
  const time = lastTime.toString(16).padStart(12, "0");
  const sequence = (0x7000 | counter).toString(16);
  const variant = 0x80 | (byteAt(at + 2) & 0x3f);
  return (
    `${time.slice(0, 8)}-${time.slice(8)}-${sequence}-${hex[variant]}${hexAt(at + 3)}-` +
    `${hexAt(at + 4)}${hexAt(at + 5)}${hexAt(at + 6)}${hexAt(at + 7)}${hexAt(at + 8)}${hexAt(at + 9)}`
  );
};

/**
 * Counts within a millisecond with 12 bits, from a random start in the lower half. An overflow
 * advances the time.
 */
const advance = (now: number, random: number): void => {
  const later = now > lastTime;
  if (later || counter === 0xfff) {
    lastTime = later ? now : lastTime + 1;
    counter = random & 0x7ff;
  } else {
    counter += 1;
  }
};

const byteAt = (index: number): number => pool[index] ?? 0;
const hexAt = (index: number): string => hex[byteAt(index)] ?? "00";
