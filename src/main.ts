import { composeService } from "./compose.ts";
import { createLog } from "./log.ts";
import { BadSetting, readSettings } from "./settings.ts";

/** Serves until SIGTERM or SIGINT: what is in flight is answered first; a second signal does not wait for it. */
const serve = async (): Promise<void> => {
  const settings = readSettings();
  const log = createLog(settings.logLevel);
  const service = await composeService(settings, log);
  log.info({ url: service.url }, "listening");

  let ending = false;
  const end = async (signal: string): Promise<void> => {
    if (ending) process.exit(1);
    ending = true;
    log.info({ signal }, "draining");
    await service.close();
    log.info("ended");
  };
  process.on("SIGTERM", () => void end("SIGTERM"));
  process.on("SIGINT", () => void end("SIGINT"));
};

/** Why the service did not start, in one line: what is wrong, not where in the code. */
const reasonOf = (error: unknown): string => {
  if (error instanceof BadSetting) return error.message;
  const { message } = error instanceof Error ? error : new Error(String(error));
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return `${message}${cause}`.replace(/\s+/g, " ");
};

serve().catch((error) => {
  process.stderr.write(`voxledger: ${reasonOf(error)}\n`);
  process.exitCode = 1;
});
