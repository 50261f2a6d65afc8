import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { createSnapshotFiles, removeSnapshots } from "../../projections/runner/snapshot-files.ts";
import type { SnapshotStore } from "../../projections/runner/snapshot-store.ts";
import { createDataKeys } from "../application/accounts/data-keys.ts";
import { encryptWebsites } from "../application/accounts/encrypt-websites.ts";
import { composeAdminServices } from "../application/admin/services.ts";
import { adminViewsOf } from "../application/admin/views.ts";
import type { ClockCheck } from "../application/clock/clock-check.ts";
import { readLastTime } from "../application/clock/last-time.ts";
import { createUrgentTime } from "../application/clock/urgent-time.ts";
import { createExecuteCommand } from "../application/execute-command.ts";
import { createProviderActivities } from "../application/health/provider-activity.ts";
import { obtainEventLogId } from "../application/log-format.ts";
import { repeatEvery } from "../async/repeat.ts";
import { createScheduler, type Scheduler } from "../async/scheduler/scheduler.ts";
import { backgroundTime } from "../async/time.ts";
import { rateStream } from "../domain/ledger/rate.ts";
import type { EpochMs } from "../domain/time.ts";
import type { ClassicTools } from "../engines/local/engine.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../engines/natural-voices/natural-voices.ts";
import { createCommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import type { SqliteThreads } from "../eventstore/sqlite/threads.ts";
import { KnownEntries } from "../ledger/accounts/known-entries.ts";
import { readRegistrySnapshot } from "../ledger/journal/journal-registry.ts";
import { createCountedUsage } from "../ledger/reports/counted-usage.ts";
import { createUsageOverview } from "../ledger/reports/usage-overview.ts";
import { type Settings, withSettingName } from "../settings/read-settings.ts";
import type { SubprocessHost } from "../subprocess/subprocess-host.ts";
import { noTelemetry, type Telemetry } from "../telemetry/telemetry.ts";
import { composeClock, type Machine } from "./clock/service-clock.ts";
import { openEventStore, requireMeasuredClock, startTimeoutMs } from "./event-log/open-event-store.ts";
import { composeViews, startUsageTotals, websiteViews } from "./event-log/views.ts";
import { createLazyCipher, deriveKeys, obtainMasterKeys, openNamingKey } from "./master-key.ts";
import { composeProviders } from "./speech/providers.ts";
import { webhookRefusal } from "./website-servers.ts";
import { alone, type Shared } from "./workers/shared.ts";

/** The values that every builder of the service needs. */
export interface Runtime {
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: () => EpochMs;
  readonly telemetry: Telemetry;
  /** The speech tools. Their process starts while the log is read. */
  readonly host: Promise<SubprocessHost>;
  /** The tools that need no files of voices. */
  readonly classicTools: Promise<ClassicTools>;
  /**
   * The resources, which are closed in reverse order, at shutdown or when a later builder fails.
   */
  readonly resources: AsyncDisposableStack;
  /** The milliseconds left for the shutdown. */
  readonly shutdownTimeLeft: () => number;
  /** What this process shares with the other workers of its service. */
  readonly shared: Shared;
  /** Logs an error that no caller receives. */
  readonly onError: (what: string, error: unknown) => void;
}

/** The event log, its views, and the admin services. */
export type Core = Awaited<ReturnType<typeof composeCore>>;

/**
 * Opens the log, which other processes may have open too, and catches the views up.
 * @throws {EventStoreUnavailable}
 * @throws {Unavailable}
 * @throws {BadSetting} if the log cannot be read to its end
 */
export const composeCore = async (
  settings: Settings,
  log: Logger,
  {
    machine,
    telemetry = noTelemetry,
    scheduler = createScheduler(),
    shared = alone,
    threads,
  }: {
    machine?: Machine;
    telemetry?: Telemetry;
    scheduler?: Scheduler;
    shared?: Shared;
    threads?: SqliteThreads | undefined;
  } = {},
) => {
  await using opened = new AsyncDisposableStack();
  const checked = await composeClock(settings, (message) => log.warn(message), machine);
  const { clock, clockCheck } = checked;
  // This never rejects. The files of the voices are read while the log is read.
  const voicesOpened = openNaturalVoices(naturalVoicesFolder(settings.naturalVoices.folder));
  const options = { clock, readOnly: false, telemetry, checked, waitMs: startTimeoutMs, threads };
  const { events, startHandler, refuseAppends } = await openEventStore(settings, options);
  opened.defer(events.close);
  const logId = await obtainEventLogId(startHandler, randomUUID(), new Date(clock()).toISOString());
  // Measures the clock's difference before anything is served. Health reports a failure.
  await events.ping().catch(() => {});
  clockCheck.noteLogTime(await readLastTime(events));
  const stopChecks = watchClock(events, clockCheck);
  opened.defer(async () => stopChecks());
  const instance = randomUUID();
  const folder = join(settings.dataDir, "snapshots", logId);
  const snapshots = createSnapshotFiles(folder, {
    logId,
    keys: deriveKeys(await obtainMasterKeys(settings), "snapshots"),
  });
  const runtime = { log, clock, resources: opened };
  const cipher = createLazyCipher(settings, startHandler, clock);
  await cipher(); // reports a wrong master key before views are read with it
  const dataKeys = createDataKeys({
    ...{ store: events, cipher, random: randomBytes, clock },
    onUnopened: (websiteId) =>
      log.error({ websiteId }, "the data key of a website cannot be read: its name and origins are unknown"),
  });
  const onErased: ((websiteId: string) => void)[] = [];
  const decrypted = encryptWebsites(events, dataKeys, (websiteId) => {
    for (const call of onErased) call(websiteId);
  });
  // Another start may read more than this process. A snapshot from before an erasure must not stay.
  const completeSnapshots: SnapshotStore = {
    ...snapshots,
    save: async (projection, ...saved) => {
      if (dataKeys.hasUnopened() && websiteViews.includes(projection))
        await removeSnapshots(folder, [projection], Number.POSITIVE_INFINITY);
      else await snapshots.save(projection, ...saved);
    },
  };
  const started = await startViews(decrypted, runtime, completeSnapshots, instance);
  const { runner, store, countedUsage, malformedElsewhere } = started;
  const handler = telemetry.commands(
    createCommandHandler({ store, clock, readSnapshot: readRegistrySnapshot(store) }),
  );
  opened.defer(handler.drain);
  const providerActivities = createProviderActivities({ clock });
  const knownEntries = new KnownEntries();
  // A command waits for all workers: its client may send the next request to any of them.
  const waitForPosition: typeof runner.waitForPosition = async (...request) => {
    await Promise.all([runner.waitForPosition(...request), shared.untilOthersShow(request[0])]);
  };
  const parts = {
    store,
    knownEntries,
    /** The event store, with malformed events as stored. */
    storeAsWritten: events,
    refuseAppends,
    handler,
    execute: createExecuteCommand({ handler, runner: { waitForPosition } }),
    providers: composeProviders(settings, telemetry, scheduler, { activities: providerActivities, log }),
    /** @throws {BadSetting} if the master key is not the recorded one */
    cipher,
    dataKeys,
    /** Called with each website whose erasure is read. */
    onErased,
    /** @throws {BadSetting} */
    namingKey: async () => openNamingKey(startHandler, await cipher(), clock),
  };
  const urgentTime = createUrgentTime({ clockCheck, clock, measure: events.ping });
  const naturalVoices = await voicesOpened;
  const services = composeAdminServices({
    ...parts,
    findInstalled: async () => (voiceName) => naturalVoices.installed.has(voiceName),
    views: adminViewsOf(runner),
    webhookRefusal: webhookRefusal(settings.upstreamNetworks),
    clock,
    urgentTime,
    isClockRight: clockCheck.isClockRight,
    readCountedUsage: countedUsage.read,
  });
  const running = opened.move();
  return {
    ...services,
    ...parts,
    naturalVoices,
    /** The unique id of this process. */
    instance,
    logId,
    runner,
    malformedElsewhere,
    countedUsage,
    showUsage: createUsageOverview({ readCountedUsage: countedUsage.read, clock }),
    providerActivities,
    scheduler,
    clock,
    clockCheck,
    requireRightClock: clockCheck.requireRightClock,
    urgentTime,
    requireMeasuredClock: requireMeasuredClock(events, clockCheck),
    /** Waits for pending commands, then releases all resources. */
    close: () => running.disposeAsync(),
  };
};

const clockCheckMs = 1_000;

/**
 * Compares the clock with the uptime each second, and while it may be wrong, also with the event
 * store's clock.
 */
const watchClock = (events: EventStore, clockCheck: ClockCheck): (() => void) =>
  repeatEvery(clockCheckMs, backgroundTime, async () => {
    await clockCheck.check();
    if (clockCheck.isProbeNeeded()) await events.ping().catch(() => {});
  });

/**
 * Catches the views up. The totals of all keys' usage are read at their first use.
 * @throws {BadSetting}
 */
const startViews = async (
  events: EventStore,
  { log, clock, resources }: Pick<Runtime, "log" | "clock" | "resources">,
  snapshots: SnapshotStore,
  instance: string,
) => {
  const except = rateStream(instance);
  const { runner, store, malformedElsewhere } = composeViews(events, {
    log,
    except,
    snapshots,
    startTimeoutMs,
  });
  resources.defer(runner.close);
  await withSettingName("EVENT_STORE", runner.start());
  const startRunner = () => startUsageTotals({ store, snapshots, clock, log });
  const countedUsage = createCountedUsage({ store, startRunner, time: backgroundTime });
  resources.defer(countedUsage.close);
  return { runner, store, countedUsage, malformedElsewhere };
};
