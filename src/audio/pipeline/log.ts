import { ServiceError } from "../../domain/errors.ts";
import { AudioStoreUnavailable } from "../store/audio-store.ts";

/** What the audio parts tell the operator; a pino logger is one. Facts hold no text, path or credential. */
export interface Log {
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

export const silent: Log = { warn: () => undefined, info: () => undefined };

/**
 * What of an error may be told. The words of our own errors, which hold nothing secret; of any other its kind alone,
 * for its message may name paths and hosts. Never a cause, never a stack.
 */
export const loggableMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  if (error instanceof ServiceError || error instanceof AudioStoreUnavailable) return error.message;
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};
