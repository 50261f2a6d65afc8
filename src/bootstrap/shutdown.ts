import type { Logger } from "pino";
import { errorMessage } from "../domain/errors.ts";

/** Prints the error as one line on standard error, and makes the process exit with code 1. */
export const exitWithError = (error: unknown): void => {
  process.stderr.write(`voxledger: ${errorMessage(error)}\n`);
  process.exitCode = 1;
};

/** Closes on SIGTERM or SIGINT: requests in flight are answered first. A second signal ends the process at once. */
export const closeOnSignal = (close: () => Promise<void>, log: Logger): void => {
  let closing = false;
  const shutDown = async (signal: NodeJS.Signals): Promise<void> => {
    if (closing) process.exit(1);
    closing = true;
    log.info({ signal }, "draining");
    try {
      await close();
      log.info("ended");
    } catch (error) {
      exitWithError(error);
      process.exit(); // open handles of what failed to close would keep the process alive
    }
  };
  process.on("SIGTERM", shutDown);
  process.on("SIGINT", shutDown);
};

/** One deadline for all steps of a shutdown. Returns the milliseconds left; the time starts at the first call. */
export const createShutdownDeadline = (ms: number, now = () => performance.now()): (() => number) => {
  let end: number | undefined;
  return () => {
    end ??= now() + ms;
    return Math.max(0, end - now());
  };
};
