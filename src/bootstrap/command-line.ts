import { catalog } from "../../projections/catalog.ts";
import { credentials } from "../../projections/credentials.ts";
import { keys } from "../../projections/keys.ts";
import { monthlyQuota } from "../../projections/monthly-quota.ts";
import type { Projection } from "../../projections/projection.ts";
import { readView, type StreamsRead, unreadView } from "../../projections/runner/read-view.ts";
import type { View } from "../../projections/runner/runner.ts";
import { websites } from "../../projections/websites.ts";
import { createExecute } from "../application/commands.ts";
import type { Access } from "../cli/command.ts";
import { credentialsStream } from "../domain/accounts/credentials.ts";
import { keyStream } from "../domain/accounts/key.ts";
import { websiteStream } from "../domain/accounts/website.ts";
import { catalogStream } from "../domain/catalog/catalog.ts";
import { monthOf, usageStream } from "../domain/usage/usage.ts";
import { createCommandHandler } from "../eventstore/command-handler.ts";
import { validatedEventStore } from "../eventstore/validated-event-store.ts";
import { type Settings, withSettingName } from "../settings.ts";
import { noTelemetry, type Telemetry } from "../telemetry/telemetry.ts";
import { type AdminServices, composeAdminServices } from "./admin-services.ts";
import { openLog } from "./event-log.ts";
import { createLazySealing } from "./master-key.ts";
import { composeProviders } from "./providers.ts";

/**
 * The admin services for one command. Reads only the streams that the command names or decides on, and subscribes to
 * nothing.
 * @throws {EventStoreUnavailable} @throws {BadSetting}
 */
export const composeCommandLine = async (
  settings: Settings,
  { writes, reads = {} }: Access,
  { clock = Date.now, telemetry = noTelemetry }: { clock?: () => number; telemetry?: Telemetry } = {},
): Promise<AdminServices & { close(): Promise<void> }> => {
  await using opened = new AsyncDisposableStack();
  const { events, startHandler } = await openLog(settings, { clock, readOnly: !writes, telemetry });
  opened.defer(events.close);
  const store = validatedEventStore(events);
  const handler = createCommandHandler({ store, clock });
  opened.defer(handler.drain);

  const viewOf = <S>(projection: Projection<S>, streams: StreamsRead | undefined): Promise<View<S>> =>
    streams === undefined
      ? Promise.resolve(unreadView(projection))
      : withSettingName("EVENT_STORE", readView(store, projection, streams));
  const named = (ids: StreamsRead | undefined, streamOf: (id: string) => string): StreamsRead | undefined =>
    ids === undefined || ids === "all" ? ids : ids.map(streamOf);

  const month = monthOf(new Date(clock()).toISOString());
  const { usageOf } = reads;
  const quotas = usageOf && (await viewOf(monthlyQuota, [usageStream(usageOf, month)]));
  const operations = composeAdminServices({
    store,
    log: events,
    views: {
      websites: await viewOf(websites, named(reads.websites, websiteStream)),
      keys: await viewOf(keys, named(reads.keys, keyStream)),
      credentials: await viewOf(credentials, named(reads.credentials, credentialsStream)),
      catalog: await viewOf(catalog, reads.catalog && [catalogStream]),
      ...(quotas && { quotas }),
    },
    execute: createExecute({ handler, runner: { waitForPosition: async () => {} } }),
    providers: composeProviders(settings, telemetry),
    sealing: createLazySealing(settings, startHandler, clock),
    clock,
  });
  const running = opened.move();
  return { ...operations, close: () => running.disposeAsync() };
};
