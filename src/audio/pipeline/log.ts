import { ServiceError } from "../../domain/errors.ts";
import { AudioStoreUnavailable } from "../store/audio-store.ts";

/**
 * The log of the audio modules, such as a pino logger. Facts contain no texts, paths or
 * credentials.
 */
export interface Log {
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

export const quiet: Log = { warn: () => undefined, info: () => undefined };

/**
 * Returns a text that is safe to log: the message of the service's own errors, and only the code or
 * the name of all others, because their messages may contain paths and hosts.
 */
export const loggableMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  if (error instanceof ServiceError) return error.loggable;
  if (error instanceof AudioStoreUnavailable) return error.message;
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
};
