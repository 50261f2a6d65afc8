import type { Step } from "./reader.ts";
import { readableSpelling } from "./spellings.ts";

/** In this order: each step gets what the one before it has written. */
export const steps: readonly Step[] = [readableSpelling];
