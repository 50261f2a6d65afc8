import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { catalog } from "../../projections/catalog.ts";
import { credentials } from "../../projections/credentials.ts";
import { keys } from "../../projections/keys.ts";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import type { ProjectionRunner } from "../../projections/runner/runner.ts";
import { createSnapshotFiles } from "../../projections/runner/snapshot-files.ts";
import { usageTotals } from "../../projections/usage-totals.ts";
import { websites } from "../../projections/websites.ts";
import type { Providers } from "../application/accounts/providers.ts";
import type { Sealing } from "../application/accounts/sealing.ts";
import { createExecute, type Execute } from "../application/commands.ts";
import { identifyLog } from "../application/log-identity.ts";
import { createWarmUsage } from "../application/usage/warm-usage.ts";
import { type CommandHandler, createCommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { type Settings, withSettingName } from "../settings.ts";
import { noTelemetry, type Telemetry } from "../telemetry/telemetry.ts";
import { createLazySealing, openLog, startTimeoutMs } from "./event-log.ts";
import { type AdminServices, composeAdminServices } from "./operations.ts";
import { composeProviders } from "./providers.ts";
import { composeViews } from "./views.ts";

/** What the service stands on: the log, its views, and the operations. */
export interface Core extends AdminServices {
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly runner: ProjectionRunner;
  readonly execute: Execute;
  readonly providers: Providers;
  /** @throws {BadSetting} without the master key that the log records */
  readonly sealing: () => Promise<Sealing>;
  /** Waits for what was begun, then frees everything. */
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly telemetry?: Telemetry;
}

/**
 * Opens the log, beside whoever else has it open, and brings its views up to date.
 * @throws {EventStoreUnavailable} @throws {Unavailable} @throws {BadSetting} for a log that cannot be read to its end
 */
export const composeCore = async (
  settings: Settings,
  log: Logger,
  { clock = Date.now, telemetry = noTelemetry }: CoreOptions = {},
): Promise<Core> => {
  await using opened = new AsyncDisposableStack();
  const { events, startHandler } = await openLog(settings, { clock, readOnly: false, telemetry });
  opened.defer(events.close);
  const logId = await identifyLog(startHandler, randomUUID(), new Date(clock()).toISOString());
  const { runner, store } = composeViews(events, {
    log,
    snapshots: createSnapshotFiles(join(settings.dataDir, "snapshots", logId)),
    startTimeoutMs,
  });
  opened.defer(runner.close);
  await withSettingName("EVENT_STORE", runner.start());
  const quotas = runner.view(monthlyQuota);
  const handler = telemetry.commands(
    createCommandHandler({ store, clock, readSnapshot: createWarmUsage({ store, quotas, clock }) }),
  );
  opened.defer(handler.drain);
  const execute = createExecute({ handler, runner });
  const providers = composeProviders(settings, telemetry);
  const sealing = createLazySealing(settings, startHandler, clock);
  const views = {
    websites: runner.view(websites),
    keys: runner.view(keys),
    credentials: runner.view(credentials),
    catalog: runner.view(catalog),
    quotas,
    totals: runner.view(usageTotals),
  };
  const operations = composeAdminServices({ store, log: events, views, execute, providers, sealing, clock });
  const running = opened.move();
  return {
    ...operations,
    store,
    handler,
    runner,
    execute,
    providers,
    sealing,
    close: () => running.disposeAsync(),
  };
};
