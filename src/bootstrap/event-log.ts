import { dirname } from "node:path";
import { type CommandHandler, createCommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import type { ProjectionServer } from "../eventstore/projection-server.ts";
import { openSqliteEventStore } from "../eventstore/sqlite/sqlite-event-store.ts";
import { validatedEventStore } from "../eventstore/validated-event-store.ts";
import { BadSetting, type Settings, withSettingName } from "../settings.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { makePrivateDirectory } from "./private-directory.ts";

export interface OpenLog {
  /** Events as stored: malformed ones are not replaced. */
  readonly events: EventStore;
  /** Waits for an event store that is still starting. */
  readonly startHandler: CommandHandler;
}

/** How long a start waits for the event store. */
export const startTimeoutMs = 30_000;

/** Opens the log. Other processes may have it open too. @throws {BadSetting} */
export const openLog = async (
  settings: Settings,
  {
    clock,
    readOnly,
    telemetry,
  }: { readonly clock: () => number; readonly readOnly: boolean; readonly telemetry: Telemetry },
): Promise<OpenLog> => {
  if (!readOnly) await withSettingName("DATA_DIR", makePrivateDirectory(settings.dataDir));
  const opened = withSettingName("EVENT_STORE", openEventStore(settings, readOnly));
  const events = telemetry.eventStore(await opened);
  const store = validatedEventStore(events);
  return { events, startHandler: createCommandHandler({ store, clock, deadlineMs: startTimeoutMs }) };
};

/** The EventStoreDB client is large: it is imported only where it is configured. */
const openEventStore = async ({ eventStore }: Settings, readOnly: boolean): Promise<EventStore> => {
  if (eventStore.kind === "esdb") {
    const { openEventStoreDB } = await import("../eventstore/eventstoredb/eventstoredb-event-store.ts");
    return await openEventStoreDB({ url: eventStore.url, readOnly });
  }
  if (!readOnly) await makePrivateDirectory(dirname(eventStore.path));
  return await openSqliteEventStore({ path: eventStore.path, readOnly });
};

/** The user projections of the EventStoreDB server that EVENT_STORE names. @throws {BadSetting} */
export const openProjectionServer = async ({ eventStore }: Settings): Promise<ProjectionServer> => {
  if (eventStore.kind !== "esdb") {
    throw new BadSetting("EVENT_STORE: only EventStoreDB has user projections");
  }
  const driver = await import("../eventstore/eventstoredb/projection-server.ts");
  const open = async () => driver.openProjectionServer(eventStore.url);
  return await withSettingName("EVENT_STORE", open());
};
