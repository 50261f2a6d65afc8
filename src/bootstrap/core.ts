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
import { type AdminServices, composeAdminServices } from "./admin-services.ts";
import { openLog, startTimeoutMs } from "./event-log.ts";
import { createLazySealing } from "./master-key.ts";
import { composeProviders } from "./providers.ts";
import { composeViews } from "./views.ts";

/** What every builder of the service needs. */
export interface Runtime {
  readonly settings: Settings;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly telemetry: Telemetry;
  /** Closed in reverse order, at shutdown or when a later builder fails. */
  readonly resources: AsyncDisposableStack;
  /** The milliseconds left for the shutdown. */
  readonly shutdownTimeLeft: () => number;
  /** Logs an error that no caller receives. */
  readonly onError: (what: string, error: unknown) => void;
}

/** The event log, its views, and the admin services. */
export interface Core extends AdminServices {
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly runner: ProjectionRunner;
  readonly execute: Execute;
  readonly providers: Providers;
  /** @throws {BadSetting} if the master key is not the recorded one */
  readonly sealing: () => Promise<Sealing>;
  /** Waits for pending commands, then releases all resources. */
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  readonly telemetry?: Telemetry;
}

/**
 * Opens the log, which other processes may have open too, and catches the views up.
 * @throws {EventStoreUnavailable} @throws {Unavailable} @throws {BadSetting} if the log cannot be read to its end
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
