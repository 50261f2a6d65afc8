import type { Pair } from "../support/same-sound.ts";
import { english } from "./english.ts";

export const hardSentences: readonly Pair[] = Object.values(english).flat();
