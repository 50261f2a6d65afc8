import { ServiceError } from "../../domain/errors.ts";
import { AudioStoreUnavailable } from "../store/audio-store.ts";

/**
 * The log of the audio modules; a pino logger fits. Facts contain no texts, paths or credentials.
 */
export interface Log {
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

export const quiet: Log = { warn: () => undefined, info: () => undefined };

/**
 * A message that is safe to log: that of our own errors; of others only the code or name, because
 * their messages may contain paths and hosts.
 */
export const loggableMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  if (error instanceof ServiceError) return error.loggable;
  if (error instanceof AudioStoreUnavailable) return error.message;
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};
