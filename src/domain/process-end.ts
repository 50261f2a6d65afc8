/** How a process has ended: neither is present if it did not run. */
export interface ProcessEnd {
  readonly exitCode?: number;
  /** The signal that ended it, such as SIGSEGV. */
  readonly signal?: string;
}

export const processEnd = (exitCode: number | null, signal: string | null): ProcessEnd => {
  if (signal !== null) return { signal };
  return exitCode === null ? {} : { exitCode };
};

/** The work of a process failed. */
export abstract class ProcessFailed extends Error {
  abstract readonly end: ProcessEnd;
}

const deepestCause = 5;

/** Returns how the process ended whose failure is the cause of an error. */
export const processEndOf = (error: unknown, causes = deepestCause): ProcessEnd => {
  if (error instanceof ProcessFailed) return error.end;
  return error instanceof Error && causes > 0 ? processEndOf(error.cause, causes - 1) : {};
};
