import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { removeSnapshots } from "../../../projections/runner/snapshot-files.ts";
import { createDataKeys } from "../../application/accounts/data-keys.ts";
import { encryptWebsites } from "../../application/accounts/encrypt-websites.ts";
import { createEraseWebsite, type EraseWebsite } from "../../application/admin/erase-website.ts";
import { composeAdminServices } from "../../application/admin/services.ts";
import { readAdminViews } from "../../application/admin/views.ts";
import { createDeletePrivateAudio } from "../../application/audio/delete-private-audio.ts";
import { type AcceptClock, createAcceptClock } from "../../application/clock/accept-clock.ts";
import { readLastTime } from "../../application/clock/last-time.ts";
import { createUrgentTime } from "../../application/clock/urgent-time.ts";
import { createExecuteCommand } from "../../application/execute-command.ts";
import { obtainEventLogId } from "../../application/log-format.ts";
import { createPinScripts } from "../../application/page-scripts.ts";
import { lazy } from "../../async/lazy.ts";
import { createScheduler } from "../../async/scheduler/scheduler.ts";
import type { AudioStore } from "../../audio/store/audio-store.ts";
import { type Access, operator, type Services } from "../../cli/command.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../../engines/natural-voices/natural-voices.ts";
import { createCommandHandler } from "../../eventstore/command-handler.ts";
import { validatedEventStore } from "../../eventstore/validated-event-store.ts";
import { openSeekable } from "../../files/seekable-file.ts";
import { bundleOnce } from "../../http/bundles/bundles.ts";
import { withArchivedJournals } from "../../ledger/archive/with-archived-journals.ts";
import { type Settings, withSettingName } from "../../settings/read-settings.ts";
import { noTelemetry, type Telemetry } from "../../telemetry/telemetry.ts";
import { composeAudioReports } from "../audio-reports.ts";
import { composeClock, type Machine } from "../clock/service-clock.ts";
import { openEventStore, requireMeasuredClock } from "../event-log/open-event-store.ts";
import { composeSeals } from "../event-log/seals.ts";
import { websiteViews } from "../event-log/views.ts";
import { createLazyCipher, obtainMasterKeys } from "../master-key.ts";
import { openAudioStore } from "../speech/audio-store.ts";
import { composeProviders } from "../speech/providers.ts";
import { webhookRefusal } from "../website-servers.ts";
import { ownUrl } from "./ask-instance.ts";

/**
 * Opens the admin services for one command. Reads only the streams that the command names or
 * decides on, and subscribes to nothing.
 * @throws {EventStoreUnavailable}
 * @throws {BadSetting}
 */
export const composeCommandLine = async (
  settings: Settings,
  { writes, reads = {} }: Access,
  { machine, telemetry = noTelemetry }: { machine?: Machine; telemetry?: Telemetry } = {},
): Promise<Services & { close(): Promise<void> }> => {
  await using opened = new AsyncDisposableStack();
  const checked = writes ? await composeClock(settings, () => {}, machine) : undefined;
  const clock = checked?.clock ?? machine?.clock ?? Date.now;
  const options = { clock, readOnly: !writes, telemetry, ...(checked && { checked }) };
  const { events: log, startHandler } = await openEventStore(settings, options);
  opened.defer(log.close);
  const archives = [];
  for (const path of reads.archives ?? []) archives.push(opened.use(await openSeekable(path)));
  const events = archives.length > 0 ? await withArchivedJournals(log, archives) : log;
  // Compares the clock with the event store's before anything is recorded. If this fails, the
  // command itself reports why.
  if (checked) {
    await events.ping().catch(() => {});
    // Unlike the clock of the embedded store, a server's clock may be behind the times of events.
    if (settings.eventStore.kind !== "sqlite") checked.clockCheck.noteLogTime(await readLastTime(events));
  }
  const cipher = createLazyCipher(settings, startHandler, clock, { mayCreate: writes });
  const dataKeys = createDataKeys({ store: events, cipher, random: randomBytes, clock });
  const store = validatedEventStore(encryptWebsites(events, dataKeys));
  const handler = createCommandHandler({ store, clock });
  opened.defer(handler.drain);

  const urgentTime = checked
    ? createUrgentTime({ ...checked, measure: events.ping })
    : async () => ({ at: new Date(clock()).toISOString() });
  const execute = createExecuteCommand({ handler, runner: { waitForPosition: async () => {} } });
  const services = composeAdminServices({
    store,
    storeAsWritten: events,
    views: await withSettingName("EVENT_STORE", readAdminViews(store, reads)),
    handler,
    execute,
    providers: composeProviders(settings, telemetry, createScheduler()),
    cipher,
    dataKeys,
    webhookRefusal: webhookRefusal(settings.upstreamNetworks),
    findInstalled: async () => {
      const { installed } = await openNaturalVoices(naturalVoicesFolder(settings.naturalVoices.folder));
      return (voiceName) => installed.has(voiceName);
    },
    clock,
    urgentTime,
    // The embedded store uses this machine's clock. The clock of a server is not measured without
    // an append.
    isClockRight: () => settings.eventStore.kind === "sqlite",
    readsUsage: reads.usage === true,
    namesWebsites: false,
  });
  const running = opened.move();
  const openStore = lazy(async (): Promise<AudioStore> => {
    const audioStore = await openAudioStore(settings, () => {});
    running.defer(audioStore.close);
    return audioStore;
  });
  const requireRightClock = checked?.clockCheck.requireRightClock ?? (() => {});
  const audioReports = composeAudioReports(
    { settings, clock },
    { store, handler, requireRightClock },
    openStore,
  );
  const isStoreEmbedded = settings.eventStore.kind === "sqlite";
  const acceptClock: AcceptClock = checked
    ? createAcceptClock({ ...checked, store, handler, isStoreEmbedded })
    : () => Promise.reject(new TypeError("the command is one that only reads"));
  const handOverSealKey = async (): Promise<void> => {
    if (!checked) throw new TypeError("the command is one that only reads");
    const sealer = await composeSeals(settings, {
      storeAsWritten: events,
      logId: await obtainEventLogId(startHandler, randomUUID(), new Date(clock()).toISOString()),
      masterKeys: await obtainMasterKeys(settings),
      clock,
      requireMeasuredClock: requireMeasuredClock(events, checked.clockCheck),
    });
    await sealer.seals.handOver(operator);
  };
  const { audit } = services;
  const { deleteAudio } = audioReports;
  const erase = createEraseWebsite({
    ...{ execute, store, storeAsWritten: events, dataKeys, clock },
    deletePrivateAudio: createDeletePrivateAudio({ audit, openStore, deleteAudio }),
  });
  const eraseWebsite: EraseWebsite = async (...request) => {
    const begun = Date.now(); // the file system's clock
    const erasure = await erase(...request);
    // A service that runs writes its snapshots again when it reads of the erasure.
    await removeSnapshots(join(settings.dataDir, "snapshots"), websiteViews, begun);
    return erasure;
  };
  const pinScripts = createPinScripts({ execute, clock });
  const pinPageScripts: Services["pinPageScripts"] = async (context) => {
    const { pageScripts: scripts } = await bundleOnce();
    return { hash: await pinScripts(scripts, context), scripts };
  };
  return {
    ...{ ...services, ...audioReports, acceptClock, handOverSealKey, eraseWebsite, pinPageScripts },
    publicUrl: settings.publicUrl ?? ownUrl(settings),
    close: () => running.disposeAsync(),
  };
};
