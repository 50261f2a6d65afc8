import type { Logger } from "pino";
import { errorMessage } from "./error-message.ts";

/** Says in one line on standard error why the process ends, and that it has failed. */
export const exitWithError = (error: unknown): void => {
  process.stderr.write(`voxledger: ${errorMessage(error)}\n`);
  process.exitCode = 1;
};

/** Closes on SIGTERM or SIGINT: what is in flight is answered first; a second signal does not wait for it. */
export const closeOnSignal = (close: () => Promise<void>, log: Logger): void => {
  let ending = false;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (ending) process.exit(1);
    ending = true;
    log.info({ signal }, "draining");
    try {
      await close();
      log.info("ended");
    } catch (error) {
      exitWithError(error);
      process.exit(); // what could not be closed may hold the process
    }
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
};
