import { setFlagsFromString } from "node:v8";

/** The growth in percent: more for a process that has the machine's memory for itself. */
const growthPercent = { alone: 100, oneOfSeveral: 40 };

/**
 * Makes V8 collect the old generation when it has grown to twice what was in use, or, in one of
 * several workers, to 1.4 times that. By default it may grow to between 1.1 and 4 times, depending
 * on how long past collections took. Buffers of audio count. While long texts are spoken, a growth
 * to 1.1 times would mean a collection every 0.2 s. A growth to twice means one per second.
 *
 * Call it after the start. V8 uses cached code only if it was compiled with the same flags, and
 * Node's own code was compiled without this one. Its compilation would take 50 ms at the start.
 */
export const limitHeapGrowth = (role: keyof typeof growthPercent): void =>
  setFlagsFromString(`--heap-growing-percent=${growthPercent[role]}`);
