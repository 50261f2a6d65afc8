import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Logger } from "pino";
import { catalog } from "../../projections/catalog.ts";
import { credentials as credentialsProjection } from "../../projections/credentials.ts";
import { keys as keysProjection } from "../../projections/keys.ts";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import type { ProjectionRunner } from "../../projections/runner.ts";
import { noSnapshots } from "../../projections/snapshot.ts";
import { snapshotFiles } from "../../projections/snapshot-files.ts";
import { usageTotals } from "../../projections/usage-totals.ts";
import { websites as websitesProjection } from "../../projections/websites.ts";
import { type Audit, createAudit } from "../application/audit.ts";
import { type CatalogKeeper, createCatalogKeeper } from "../application/catalog.ts";
import { createExecute, type Execute } from "../application/commands.ts";
import { type CredentialsKeeper, createCredentialsKeeper } from "../application/credentials.ts";
import { createKeys, type Keys } from "../application/keys.ts";
import { identifyLog, logIdOf } from "../application/log-identity.ts";
import { createOriginVerification, type OriginVerification } from "../application/origin-verification.ts";
import type { Providers } from "../application/providers.ts";
import { createSealing, type Sealing } from "../application/sealing.ts";
import { createUsageReport, type ReportUsage } from "../application/usage-report.ts";
import { createWarmUsage } from "../application/warm-usage.ts";
import { createWebsites, type Websites } from "../application/websites.ts";
import {
  masterKeyDecider,
  masterKeyStream,
  recognizeMasterKey,
  UnknownMasterKey,
} from "../domain/master-key.ts";
import { type CommandHandler, createCommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { validatedEventStore } from "../eventstore/validated-event-store.ts";
import { makeFolder } from "../folder.ts";
import { deriveKeys, obtainMasterKeys } from "../master-key.ts";
import { BadSetting, type Settings, underSetting } from "../settings.ts";
import { noTelemetry, type Telemetry } from "../telemetry.ts";
import { composeProviders } from "./providers.ts";
import { openEventStore } from "./stores.ts";
import { composeViews } from "./views.ts";

/** What the command line works with and the service stands on: the log, its views, and the commands. */
export interface Core {
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly runner: ProjectionRunner;
  readonly execute: Execute;
  readonly websites: Websites;
  readonly keys: Keys;
  readonly originVerification: OriginVerification;
  readonly credentials: CredentialsKeeper;
  readonly providers: Providers;
  /** @throws {BadSetting} without the master key that the log records */
  readonly sealing: () => Promise<Sealing>;
  readonly catalog: CatalogKeeper;
  readonly audit: Audit;
  readonly reportUsage: ReportUsage;
  /** Waits for what was begun, then frees everything. */
  close(): Promise<void>;
}

export interface CoreOptions {
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Whether snapshots are written; those that are there are read anyway. Default true. */
  readonly keepSnapshots?: boolean;
  /** Opens a log that exists and writes nothing anywhere: commands are refused. Default false. */
  readonly readOnly?: boolean;
  readonly telemetry?: Telemetry;
}

/** What is put on the log at a start may wait longer than what a caller waits for: a failed start helps nobody. */
export const startPatienceMs = 30_000;

/**
 * Opens the log, beside whoever else has it open, and brings its views up to date.
 * @throws {EventStoreUnavailable} @throws {Unavailable} @throws {BadSetting} for a log that cannot be read to its end
 */
export const composeCore = async (
  settings: Settings,
  log: Logger,
  { clock = Date.now, keepSnapshots = true, readOnly = false, telemetry = noTelemetry }: CoreOptions = {},
): Promise<Core> => {
  await using opened = new AsyncDisposableStack();
  if (!readOnly) await underSetting("DATA_DIR", makeFolder(settings.dataDir));
  const events = telemetry.eventStore(await openEventStore(settings, { readOnly }));
  opened.defer(events.close);
  const first = createCommandHandler({
    store: validatedEventStore(events),
    clock,
    deadlineMs: startPatienceMs,
  });
  const logId = readOnly
    ? await logIdOf(events)
    : await identifyLog(first, randomUUID(), new Date(clock()).toISOString());
  const snapshots =
    logId === undefined ? noSnapshots : snapshotFiles(join(settings.dataDir, "snapshots", logId));
  const { runner, store } = composeViews(events, {
    log,
    snapshots: keepSnapshots && !readOnly ? snapshots : { ...snapshots, save: noSnapshots.save },
    startPatienceMs,
  });
  opened.defer(runner.close);
  await underSetting("EVENT_STORE", runner.start());
  const quotas = runner.view(monthlyQuota);
  const handler = telemetry.commands(
    createCommandHandler({ store, clock, warm: createWarmUsage({ store, quotas, clock }) }),
  );
  opened.defer(handler.drain);
  const execute = createExecute({ handler, runner });
  const keysView = runner.view(keysProjection);
  const commands = { execute, clock, random: randomBytes };
  const keys = createKeys({ ...commands, keys: keysView, quotas });
  const websitesView = runner.view(websitesProjection);
  const providers = composeProviders(settings, telemetry);
  const sealing = sealingOf(settings, first, clock);
  const running = opened.move();
  return {
    store,
    handler,
    runner,
    execute,
    providers,
    sealing,
    websites: createWebsites({ ...commands, websites: websitesView, keys }),
    keys,
    originVerification: createOriginVerification(commands),
    credentials: createCredentialsKeeper({
      ...commands,
      websites: websitesView,
      credentials: runner.view(credentialsProjection),
      providers,
      sealing,
    }),
    catalog: createCatalogKeeper({ ...commands, catalog: runner.view(catalog) }),
    audit: createAudit({ store: events }),
    reportUsage: createUsageReport({ store, totals: runner.view(usageTotals), clock }),
    close: () => running.disposeAsync(),
  };
};

/** Obtains the keys when they are first needed, and checks them against the log: what only reads makes none. */
const sealingOf = (settings: Settings, handler: CommandHandler, clock: () => number): Core["sealing"] => {
  let sealing: Promise<Sealing> | undefined;
  const open = async (): Promise<Sealing> => {
    const keys = deriveKeys(await obtainMasterKeys(settings), "credentials");
    const opened = createSealing({ keys, random: randomBytes });
    const at = new Date(clock()).toISOString();
    const recognize = (recorded: string | undefined) => recognizeMasterKey(recorded, opened.keyIds, at);
    try {
      await handler.execute(masterKeyDecider, masterKeyStream, recognize, { actor: "system" });
    } catch (error) {
      if (error instanceof UnknownMasterKey) throw new BadSetting(`MASTER_KEY: ${error.message}`);
      throw error;
    }
    return opened;
  };
  return () => {
    sealing ??= open();
    return sealing;
  };
};
