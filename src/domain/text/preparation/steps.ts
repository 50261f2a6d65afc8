import type { MappedText } from "../mapped-text.ts";
import type { Reader } from "./reader.ts";

/** Rewrites what a reader would read wrongly, and nothing else. */
export type Step = (text: MappedText, reader: Reader) => MappedText;

/** In this order: each step gets what the one before it has written. */
export const steps: readonly Step[] = [];
