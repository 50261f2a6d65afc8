import type { Logger } from "pino";
import { systemTime, type Time } from "../async/time.ts";
import { errorMessage } from "../domain/errors.ts";

/** Prints the error as one line on standard error, and makes the process exit with code 1. */
export const exitWithError = (error: unknown): void => {
  process.stderr.write(`voxledger: ${errorMessage(error)}\n`);
  process.exitCode = 1;
};

/**
 * Closes on SIGTERM or SIGINT: requests in flight get their responses first. A second signal ends
 * the process at once. After a fatal error it closes in the same way, and the process exits with
 * code 1. The returned function acts like a signal.
 */
export const closeOnSignal = (
  close: () => Promise<void>,
  log: Logger,
  fatal: Promise<Error>,
): ((signal: NodeJS.Signals) => Promise<void>) => {
  let closing = false;
  const shutDown = async (): Promise<void> => {
    closing = true;
    try {
      await close();
      log.info("ended");
    } catch (error) {
      exitWithError(error);
      process.exit(); // open handles of what failed to close would keep the process alive
    }
  };
  const onSignal = async (signal: NodeJS.Signals): Promise<void> => {
    if (closing) process.exit(1);
    log.info({ signal }, "draining");
    await shutDown();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  void fatal.then(async (error) => {
    exitWithError(error);
    if (!closing) await shutDown();
  });
  return onSignal;
};

/**
 * Creates one deadline for all steps of a shutdown. The returned function returns the milliseconds
 * that are left; the time starts at its first call.
 */
export const createShutdownDeadline = (ms: number, time: Pick<Time, "now"> = systemTime): (() => number) => {
  let end: number | undefined;
  return () => {
    end ??= time.now() + ms;
    return Math.max(0, end - time.now());
  };
};
