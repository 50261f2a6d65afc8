import { dirname } from "node:path";
import type { ClockDifference } from "../../application/health/clock-difference.ts";
import { Unavailable } from "../../domain/errors.ts";
import { withAppendTimes } from "../../eventstore/append-times.ts";
import { createCommandHandler } from "../../eventstore/command-handler.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { prefixedEventStore } from "../../eventstore/prefixed-event-store.ts";
import type { ProjectionServer } from "../../eventstore/projection-server.ts";
import { openSqliteEventStore } from "../../eventstore/sqlite/sqlite-event-store.ts";
import { validatedEventStore } from "../../eventstore/validated-event-store.ts";
import { BadSetting, type Settings, withSettingName } from "../../settings.ts";
import { noTelemetry, type Telemetry } from "../../telemetry/telemetry.ts";
import { makePrivateDirectory } from "../private-directory.ts";

/** How long a start waits for the event store. */
export const startTimeoutMs = 30_000;

/** Opens the event store. Other processes may have it open too. @throws {BadSetting} */
export const openEventStore = async (
  settings: Settings,
  {
    clock,
    readOnly,
    telemetry = noTelemetry,
    clockDifference,
  }: {
    readonly clock: () => number;
    readonly readOnly: boolean;
    readonly telemetry?: Telemetry;
    readonly clockDifference?: ClockDifference;
  },
) => {
  if (!readOnly) await withSettingName("DATA_DIR", makePrivateDirectory(settings.dataDir));
  const opened = await withSettingName("EVENT_STORE", openDriver(settings, readOnly, clock));
  const timed = clockDifference ? measured(opened, clock, clockDifference) : opened;
  const events = telemetry.eventStore(prefixedEventStore(timed, settings.streamPrefix));
  const store = validatedEventStore(events);
  return {
    /** Events as stored: malformed ones are not replaced. */
    events,
    /** Waits for an event store that is still starting. */
    startHandler: createCommandHandler({ store, clock, deadlineMs: startTimeoutMs }),
  };
};

/**
 * For what a wrong clock would do for good. Measures the difference again if the clock may have been set since. Rejects with
 * {Unavailable} above 60 s, and while the difference is not known; with {EventStoreUnavailable} if it cannot be measured.
 */
export const requireMeasuredClock =
  (store: Pick<EventStore, "ping">, difference: ClockDifference) => async (): Promise<void> => {
    await store.ping();
    difference.throwIfClockIsWrong();
    if (difference.isProbeNeeded()) {
      throw new Unavailable(
        "The clock of this machine has not been compared with the event store's yet.",
        10,
      );
    }
  };

const measured = (store: EventStore, clock: () => number, difference: ClockDifference): EventStore =>
  withAppendTimes(store, { clock, onTimes: difference.observe, isProbeNeeded: difference.isProbeNeeded });

/** The EventStoreDB client is large: it is imported only where it is configured. */
const openDriver = async (
  { eventStore }: Settings,
  readOnly: boolean,
  clock: () => number,
): Promise<EventStore> => {
  if (eventStore.kind === "esdb") {
    const { openEventStoreDB } = await import("../../eventstore/eventstoredb/eventstoredb-event-store.ts");
    return await openEventStoreDB({ url: eventStore.url, readOnly });
  }
  if (!readOnly) await makePrivateDirectory(dirname(eventStore.path));
  return await openSqliteEventStore({ path: eventStore.path, readOnly, clock });
};

/** The user projections of the EventStoreDB server that EVENT_STORE names. @throws {BadSetting} */
export const openProjectionServer = async ({ eventStore }: Settings): Promise<ProjectionServer> => {
  if (eventStore.kind !== "esdb") {
    throw new BadSetting("EVENT_STORE: only EventStoreDB has user projections");
  }
  const driver = await import("../../eventstore/eventstoredb/projection-server.ts");
  const open = async () => driver.openProjectionServer(eventStore.url);
  return await withSettingName("EVENT_STORE", open());
};
