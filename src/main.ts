import { composeService } from "./compose.ts";
import { closeOnSignal, endInFailure } from "./ending.ts";
import { createLog } from "./log.ts";
import { readSettings } from "./settings.ts";

/** Serves until it is told to end. */
const serve = async (): Promise<void> => {
  const settings = readSettings();
  const log = createLog(settings.logLevel);
  const service = await composeService(settings, log);
  log.info({ url: service.url }, "listening");
  closeOnSignal(service.close, log);
};

serve().catch(endInFailure);
