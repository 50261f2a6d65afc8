import { randomUUID } from "node:crypto";
import { composeAdminServices } from "../../application/admin/services.ts";
import { readAdminViews } from "../../application/admin/views.ts";
import { type AcceptClock, createAcceptClock } from "../../application/clock/accept-clock.ts";
import { readLastTime } from "../../application/clock/last-time.ts";
import { createUrgentTime } from "../../application/clock/urgent-time.ts";
import { createExecuteCommand } from "../../application/execute-command.ts";
import { obtainEventLogId } from "../../application/log-format.ts";
import { lazy } from "../../async/lazy.ts";
import { createScheduler } from "../../async/scheduler/scheduler.ts";
import type { AudioStore } from "../../audio/store/audio-store.ts";
import { type Access, operator, type Services } from "../../cli/command.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../../engines/natural-voices/natural-voices.ts";
import { createCommandHandler } from "../../eventstore/command-handler.ts";
import { validatedEventStore } from "../../eventstore/validated-event-store.ts";
import { type Settings, withSettingName } from "../../settings/read-settings.ts";
import { noTelemetry, type Telemetry } from "../../telemetry/telemetry.ts";
import { composeAudioReports } from "../audio-reports.ts";
import { composeClock, type Machine } from "../clock/service-clock.ts";
import { openEventStore, requireMeasuredClock } from "../event-log/open-event-store.ts";
import { composeSeals } from "../event-log/seals.ts";
import { createLazyCipher, obtainMasterKeys } from "../master-key.ts";
import { openAudioStore } from "../speech/audio-store.ts";
import { composeProviders } from "../speech/providers.ts";
import { webhookRefusal } from "../website-servers.ts";

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
  const { events, startHandler } = await openEventStore(settings, options);
  opened.defer(events.close);
  // Compares the clock with the event store's before anything is recorded. If this fails, the
  // command itself reports why.
  if (checked) {
    await events.ping().catch(() => {});
    // Unlike the clock of the embedded store, a server's clock may be behind the times of events.
    if (settings.eventStore.kind !== "sqlite") checked.clockCheck.noteLogTime(await readLastTime(events));
  }
  const store = validatedEventStore(events);
  const handler = createCommandHandler({ store, clock });
  opened.defer(handler.drain);

  const urgentTime = checked
    ? createUrgentTime({ ...checked, measure: events.ping })
    : async () => ({ at: new Date(clock()).toISOString() });
  const services = composeAdminServices({
    store,
    storeAsWritten: events,
    views: await withSettingName("EVENT_STORE", readAdminViews(store, reads)),
    handler,
    execute: createExecuteCommand({ handler, runner: { waitForPosition: async () => {} } }),
    providers: composeProviders(settings, telemetry, createScheduler()),
    cipher: createLazyCipher(settings, startHandler, clock, { mayCreate: writes }),
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
  const close = () => running.disposeAsync();
  return { ...services, ...audioReports, acceptClock, handOverSealKey, close };
};
