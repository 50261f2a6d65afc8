import { z } from "zod";
import type { EpochMs } from "../time.ts";

const date = z.iso.date();
const time = z.iso.datetime({ offset: true });

/** JavaScript reads the year 1 as 1901, and writes -1 and 10000 with six digits and a sign. */
const years = { first: 1_000, last: 8_999 };
const hasKnownYear = (time: number): boolean =>
  time >= Date.UTC(years.first, 0) && time < Date.UTC(years.last + 1, 0);

export const instantError = "Must be a date (2026-11-01) or a time with its zone (2026-11-01T08:30:00Z).";

/** A date (its midnight, UTC) or a full ISO 8601 time; parsed to an `EpochMs`. */
export const instant = z
  .string()
  .refine((value) => date.safeParse(value).success || time.safeParse(value).success, {
    error: instantError,
  })
  .transform((value): EpochMs => Date.parse(value))
  .refine(hasKnownYear, { error: `Must be in the years ${years.first} to ${years.last}.` });

/** Either end may be open. */
export const period = z.object({ from: instant.optional(), to: instant.optional() });

/** A calendar month of the same years, in UTC. */
export const month = z
  .string()
  .regex(/^[1-8]\d{3}-(0[1-9]|1[0-2])$/, { error: "Must be YYYY-MM, such as 2026-11." });
