/** What the audio parts tell the operator; a pino logger is one. Facts hold no text, path or credential. */
export interface Log {
  warn(facts: object, message: string): void;
  info(facts: object, message: string): void;
}

export const silent: Log = { warn: () => undefined, info: () => undefined };

/** What of an error may be told: its own words, not its cause (which may name paths and hosts). */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");
