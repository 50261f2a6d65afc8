import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { catalog } from "../../projections/catalog.ts";
import { credentials } from "../../projections/credentials.ts";
import { deliveries } from "../../projections/deliveries.ts";
import { keys } from "../../projections/keys.ts";
import { lexicons } from "../../projections/lexicons.ts";
import type { ProjectionRunner } from "../../projections/runner/runner.ts";
import { createSnapshotFiles } from "../../projections/runner/snapshot-files.ts";
import { webhooks } from "../../projections/webhooks.ts";
import { websites } from "../../projections/websites.ts";
import type { CredentialsCipher } from "../application/accounts/credentials-cipher.ts";
import type { Providers } from "../application/accounts/list-provider-voices.ts";
import { obtainEventLogId } from "../application/event-log-id.ts";
import { createExecuteCommand, type ExecuteCommand } from "../application/execute-command.ts";
import { type ClockDifference, createClockDifference } from "../application/health/clock-difference.ts";
import {
  createProviderActivities,
  type ProviderActivities,
} from "../application/health/provider-activity.ts";
import { readRegistrySnapshot } from "../application/ledger/journal/journal-registry.ts";
import { createCountedUsage } from "../application/usage/counted-usage.ts";
import { createUsageOverview, type ShowUsage } from "../application/usage/usage-overview.ts";
import { backgroundClock } from "../async/clock.ts";
import { createScheduler, type Scheduler } from "../async/scheduler/scheduler.ts";
import { rateStream } from "../domain/ledger/rate.ts";
import { type CommandHandler, createCommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { type Settings, withSettingName } from "../settings.ts";
import { noTelemetry, type Telemetry } from "../telemetry/telemetry.ts";
import { type AdminServices, type AdminViews, composeAdminServices } from "./admin-services.ts";
import { openEventStore, startTimeoutMs } from "./event-log/open-event-store.ts";
import { composeViews, startUsageTotals } from "./event-log/views.ts";
import { createLazyCipher } from "./master-key.ts";
import { composeProviders } from "./speech/providers.ts";
import { webhookRefusal } from "./webhook-requests.ts";

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
  /** The unique id of this process. */
  readonly instance: string;
  readonly store: EventStore;
  /** The same log with malformed events as stored. */
  readonly storeAsWritten: EventStore;
  readonly logId: string;
  readonly handler: CommandHandler;
  readonly runner: ProjectionRunner;
  readonly countedUsage: ReturnType<typeof createCountedUsage>;
  readonly showUsage: ShowUsage;
  readonly execute: ExecuteCommand;
  readonly providers: Providers;
  readonly providerActivities: ProviderActivities;
  readonly scheduler: Scheduler;
  /** @throws {BadSetting} if the master key is not the recorded one */
  readonly cipher: () => Promise<CredentialsCipher>;
  readonly clockDifference: ClockDifference;
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
  const clockDifference = createClockDifference({ onWarning: (message) => log.warn(message) });
  const { events, startHandler } = await openEventStore(settings, {
    clock,
    readOnly: false,
    telemetry,
    clockDifference,
  });
  opened.defer(events.close);
  const logId = await obtainEventLogId(startHandler, randomUUID(), new Date(clock()).toISOString());
  // Measures the clock's difference before anything is served. Health reports a failure.
  await events.ping().catch(() => {});
  const instance = randomUUID();
  const snapshots = createSnapshotFiles(join(settings.dataDir, "snapshots", logId));
  const { runner, store } = composeViews(events, {
    log,
    except: rateStream(instance),
    snapshots,
    startTimeoutMs,
  });
  opened.defer(runner.close);
  await withSettingName("EVENT_STORE", runner.start());
  const startRunner = () => startUsageTotals({ store, snapshots, clock, log });
  const countedUsage = createCountedUsage({ store, startRunner, timers: backgroundClock });
  opened.defer(countedUsage.close);
  const handler = telemetry.commands(
    createCommandHandler({ store, clock, readSnapshot: readRegistrySnapshot(store) }),
  );
  opened.defer(handler.drain);
  const execute = createExecuteCommand({ handler, runner });
  const scheduler = createScheduler({ onStart: telemetry.started });
  const providerActivities = createProviderActivities({ clock });
  const providers = composeProviders(settings, telemetry, scheduler, providerActivities);
  const cipher = createLazyCipher(settings, startHandler, clock);
  const services = composeAdminServices({
    store,
    storeAsWritten: events,
    views: adminViewsOf(runner),
    handler,
    execute,
    providers,
    cipher,
    webhookRefusal: webhookRefusal(settings),
    clock,
    readCountedUsage: countedUsage.read,
  });
  const running = opened.move();
  return {
    ...services,
    instance,
    store,
    storeAsWritten: events,
    logId,
    handler,
    runner,
    countedUsage,
    showUsage: createUsageOverview({ readCountedUsage: countedUsage.read, clock }),
    execute,
    providers,
    providerActivities,
    scheduler,
    cipher,
    clockDifference,
    close: () => running.disposeAsync(),
  };
};

const adminViewsOf = (runner: ProjectionRunner): AdminViews => ({
  websites: runner.view(websites),
  keys: runner.view(keys),
  credentials: runner.view(credentials),
  catalog: runner.view(catalog),
  lexicons: runner.view(lexicons),
  webhooks: runner.view(webhooks),
  deliveries: runner.view(deliveries),
});
