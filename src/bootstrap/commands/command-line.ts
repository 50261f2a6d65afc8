import { catalog } from "../../../projections/catalog.ts";
import { credentials } from "../../../projections/credentials.ts";
import { deliveries } from "../../../projections/deliveries.ts";
import { keys } from "../../../projections/keys.ts";
import { lexicons } from "../../../projections/lexicons.ts";
import type { Projection } from "../../../projections/projection.ts";
import { readView, type StreamsRead, unreadView } from "../../../projections/runner/read-view.ts";
import type { View } from "../../../projections/runner/view.ts";
import { webhooks } from "../../../projections/webhooks.ts";
import { websites } from "../../../projections/websites.ts";
import { type AcceptClock, createAcceptClock } from "../../application/clock/accept-clock.ts";
import { type AdminViews, composeAdminServices } from "../../application/admin/services.ts";
import { createExecuteCommand } from "../../application/execute-command.ts";
import { createScheduler } from "../../async/scheduler/scheduler.ts";
import type { AudioStore } from "../../audio/store/audio-store.ts";
import type { Access, Reads, Services } from "../../cli/command.ts";
import { credentialsStream } from "../../domain/accounts/credentials.ts";
import { keyStream } from "../../domain/accounts/key.ts";
import { websiteStream } from "../../domain/accounts/website.ts";
import { catalogStream } from "../../domain/catalog/catalog.ts";
import { lexiconsStream } from "../../domain/lexicons/lexicons.ts";
import { webhooksStream } from "../../domain/webhooks/webhooks.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../../engines/natural-voices/natural-voices.ts";
import { createCommandHandler } from "../../eventstore/command-handler.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { validatedEventStore } from "../../eventstore/validated-event-store.ts";
import { type Settings, withSettingName } from "../../settings.ts";
import { noTelemetry, type Telemetry } from "../../telemetry/telemetry.ts";
import { composeClock, type Machine } from "../clock/service-clock.ts";
import { openEventStore } from "../event-log/open-event-store.ts";
import { createLazyCipher } from "../master-key.ts";
import { composeSounds } from "../sounds.ts";
import { openAudioStore } from "../speech/audio-store.ts";
import { composeProviders } from "../speech/providers.ts";
import { webhookRefusal } from "../website-servers.ts";

/**
 * The admin services for one command. Reads only the streams that the command names or decides on,
 * and subscribes to nothing.
 * @throws {EventStoreUnavailable} @throws {BadSetting}
 */
export const composeCommandLine = async (
  settings: Settings,
  { writes, reads = {} }: Access,
  { machine, telemetry = noTelemetry }: { machine?: Machine; telemetry?: Telemetry } = {},
): Promise<Services & { close(): Promise<void> }> => {
  await using opened = new AsyncDisposableStack();
  const checked = writes ? await composeClock(settings, () => {}, machine) : undefined;
  const clock = checked?.clock ?? machine?.wall ?? Date.now;
  const options = { clock, readOnly: !writes, telemetry, ...(checked && { checked }) };
  const { events, startHandler } = await openEventStore(settings, options);
  opened.defer(events.close);
  // Compares the clock with the log's before anything is recorded. A failure is that of the
  // command, too.
  if (checked) {
    await events.ping().catch(() => {});
    // A server's clock does not follow the times of events.
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
    views: await readViews(store, reads),
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
    // The embedded store's clock is this machine's; that of a server is not measured without an
    // append.
    isClockRight: () => settings.eventStore.kind === "sqlite",
    readsUsage: reads.usage === true,
    namesWebsites: false,
  });
  const running = opened.move();
  const open = async (): Promise<AudioStore> => {
    const audioStore = await openAudioStore(settings, () => {});
    running.defer(audioStore.close);
    return audioStore;
  };
  let audioStore: Promise<AudioStore> | undefined;
  const openStore = (): Promise<AudioStore> => {
    audioStore ??= open();
    return audioStore;
  };
  const requireRightClock = checked?.clockCheck.requireRightClock ?? (() => {});
  const sounds = composeSounds({ settings, clock }, { store, handler, requireRightClock }, openStore);
  const isStoreEmbedded = settings.eventStore.kind === "sqlite";
  const acceptClock: AcceptClock = checked
    ? createAcceptClock({ ...checked, store, handler, isStoreEmbedded })
    : () => Promise.reject(new TypeError("the command is one that only reads"));
  return { ...services, ...sounds, acceptClock, close: () => running.disposeAsync() };
};

/** The views of the streams that a command reads. Use of another one is an error. */
const readViews = async (store: EventStore, reads: Reads): Promise<AdminViews> => {
  const viewOf = <S>(projection: Projection<S>, streams: StreamsRead | undefined): Promise<View<S>> =>
    streams === undefined
      ? Promise.resolve(unreadView(projection))
      : withSettingName("EVENT_STORE", readView(store, projection, streams));
  const named = (ids: StreamsRead | undefined, streamOf: (id: string) => string): StreamsRead | undefined =>
    ids === undefined || ids === "all" ? ids : ids.map(streamOf);
  return {
    websites: await viewOf(websites, named(reads.websites, websiteStream)),
    keys: await viewOf(keys, named(reads.keys, keyStream)),
    credentials: await viewOf(credentials, named(reads.credentials, credentialsStream)),
    catalog: await viewOf(catalog, reads.catalog && [catalogStream]),
    webhooks: await viewOf(webhooks, reads.webhooks && [webhooksStream]),
    deliveries: await viewOf(deliveries, reads.deliveries && "all"),
    lexicons: await viewOf(lexicons, named(reads.lexicons, lexiconsStream)),
  };
};
