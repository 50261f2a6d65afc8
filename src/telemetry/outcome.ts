import { FoundInStore } from "../audio/pipeline/store-recheck.ts";
import { Invalid, Unavailable } from "../domain/errors.ts";

/** `refused`: the text, in which nothing can be spoken; `abandoned`: nobody wanted it any more, or another instance had made it. */
export type Outcome = "made" | "refused" | "failed" | "unavailable" | "abandoned";

export const outcomeOf = (error: unknown, signal: AbortSignal): Outcome => {
  if (signal.aborted || error instanceof FoundInStore) return "abandoned";
  if (error instanceof Unavailable) return "unavailable";
  return error instanceof Invalid ? "refused" : "failed";
};

/** The kind of an error: its code, where the system gave one, or its name. */
export const errorType = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};
