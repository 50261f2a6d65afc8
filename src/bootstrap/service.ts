import type { Logger } from "pino";
import { credentials } from "../../projections/credentials.ts";
import { createProviderAccounts } from "../application/accounts/provider-accounts.ts";
import { createExecute } from "../application/commands.ts";
import { catalogDecider, catalogStream, seedCatalog } from "../domain/catalog/catalog.ts";
import { releaseSeed } from "../domain/catalog/seed/seed.ts";
import { createCommandHandler } from "../eventstore/command-handler.ts";
import type { Settings } from "../settings.ts";
import { noTelemetry, type Telemetry } from "../telemetry/telemetry.ts";
import { composeAccess } from "./access.ts";
import { type Core, composeCore, type Runtime } from "./core.ts";
import { startTimeoutMs } from "./event-log.ts";
import { composeHealth } from "./health.ts";
import { serveHttp } from "./http.ts";
import { obtainMasterKeys } from "./master-key.ts";
import { createShutdownDeadline } from "./shutdown.ts";
import { composeSound } from "./sound.ts";
import { composeSpeech } from "./speech.ts";

export interface Service {
  /** The base URL that it listens on. */
  readonly url: string;
  /** Answers the requests in flight, records their usage, then releases all resources. */
  close(): Promise<void>;
}

/** Starts the service. If it cannot start, rejects with the error and leaves nothing running. */
export const composeService = async (
  settings: Settings,
  log: Logger,
  clock = Date.now,
  telemetry: Telemetry = noTelemetry,
): Promise<Service> => {
  await using resources = new AsyncDisposableStack();
  const shutdownTimeLeft = createShutdownDeadline(settings.drainSeconds * 1_000);
  const onError = (what: string, error: unknown) => log.warn({ err: error }, what);
  const runtime: Runtime = { settings, log, clock, telemetry, resources, shutdownTimeLeft, onError };
  const masterKeys = await obtainMasterKeys(settings);

  const core = await composeCore(settings, log, { clock, telemetry });
  resources.defer(core.close);
  const { providers, runner } = core;
  const sealing = await core.sealing();
  await addReleaseVoices(core, clock);
  const findAccount = createProviderAccounts({
    credentials: runner.view(credentials),
    providers,
    sealing,
    onError,
  });
  const sound = await composeSound(runtime, findAccount);
  const access = composeAccess(runtime, core, masterKeys);
  const speech = composeSpeech(runtime, core, sound);
  const health = composeHealth(runtime, core, sound, speech);
  const url = await serveHttp(runtime, { core, access, sound, speech, health });

  const running = resources.move();
  return { url, close: () => running.disposeAsync() };
};

/** Adds the voices of this release that the catalog lacks. */
const addReleaseVoices = async ({ store, runner }: Core, clock: () => number): Promise<void> => {
  const handler = createCommandHandler({ store, clock, deadlineMs: startTimeoutMs });
  await createExecute({ handler, runner })(
    catalogDecider,
    catalogStream,
    (state) => seedCatalog(state, releaseSeed(), new Date(clock()).toISOString()),
    { actor: "system" },
  );
};
