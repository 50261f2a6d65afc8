import { dirname, resolve } from "node:path";
import type { ClockCheck } from "../../application/clock/clock-check.ts";
import { requireLogFormat } from "../../application/log-format.ts";
import { afterErrors, retry } from "../../async/retry.ts";
import { systemTime } from "../../async/time.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { EpochMs } from "../../domain/time.ts";
import { withAppendTimes } from "../../eventstore/append-times.ts";
import { createCommandHandler } from "../../eventstore/command-handler.ts";
import { type EventStore, EventStoreUnavailable } from "../../eventstore/event-store.ts";
import { prefixedEventStore } from "../../eventstore/prefixed-event-store.ts";
import type { ProjectionServer } from "../../eventstore/projection-server.ts";
import { withRightClock } from "../../eventstore/right-clock.ts";
import { openSqliteEventStore } from "../../eventstore/sqlite/sqlite-event-store.ts";
import type { SqliteThreads } from "../../eventstore/sqlite/threads.ts";
import { validatedEventStore } from "../../eventstore/validated-event-store.ts";
import { exists } from "../../files/exists.ts";
import { BadSetting, type Settings, withSettingName } from "../../settings/read-settings.ts";
import { noTelemetry, type Telemetry } from "../../telemetry/telemetry.ts";
import type { ServiceClock } from "../clock/service-clock.ts";
import { makePrivateDirectory } from "../private-directory.ts";

/** A start waits at most this long for the event store. */
export const startTimeoutMs = 30_000;

interface OpenEventStoreOptions {
  readonly clock: () => EpochMs;
  readonly readOnly: boolean;
  readonly telemetry?: Telemetry;
  /** Given for stores that are written to: appends are refused while the clock is wrong. */
  readonly checked?: ServiceClock;
  /** The longest wait for an event store that is still starting. Default: 0. */
  readonly waitMs?: number;
  /** The threads of the embedded store, if they have been started. */
  readonly threads?: SqliteThreads | undefined;
}

/**
 * Opens the event store, unless its log has a format that this version does not read. Other
 * processes may have it open too.
 * @throws {BadSetting}
 */
export const openEventStore = async (
  settings: Pick<Settings, "dataDir" | "eventStore" | "streamPrefix">,
  { clock, readOnly, telemetry = noTelemetry, checked, waitMs = 0, threads }: OpenEventStoreOptions,
) => {
  if (!readOnly) await withSettingName("DATA_DIR", makePrivateDirectory(settings.dataDir));
  const opened = await withSettingName("EVENT_STORE", openDriver(settings, readOnly, clock, threads));
  let refusal: Error | undefined;
  const guarded: EventStore = {
    ...opened,
    append: async (...append) => {
      if (refusal) throw new EventStoreUnavailable(refusal.message);
      return await opened.append(...append);
    },
  };
  const timed = checked ? measured(guarded, checked) : guarded;
  const recorded = telemetry.eventStore(prefixedEventStore(timed, settings.streamPrefix));
  const events = checked ? withRightClock(recorded, checked.clockCheck.requireRightClock) : recorded;
  try {
    await withSettingName("EVENT_STORE", waitForFormat(events, waitMs));
  } catch (error) {
    await opened.close();
    throw error;
  }
  const store = validatedEventStore(events);
  return {
    /** Events as stored: malformed ones are not replaced. */
    events,
    /** Waits for an event store that is still starting. */
    startHandler: createCommandHandler({ store, clock, deadlineMs: startTimeoutMs }),
    /** Refuses all further appends, because this process must not write to the log any more. */
    refuseAppends: (reason: Error): void => {
      refusal = reason;
    },
  };
};

/**
 * @throws {UnsupportedLogFormat}
 * @throws {EventStoreUnavailable}
 */
const waitForFormat = async (store: EventStore, waitMs: number): Promise<void> => {
  const end = systemTime.now() + waitMs;
  const delayAfter = afterErrors(
    (error) => error instanceof EventStoreUnavailable && systemTime.now() < end,
    { firstMs: 50, maxMs: 1_000 },
  );
  await retry({ time: systemTime, delayAfter }, () => requireLogFormat(store));
};

/**
 * Returns a guard for changes that cannot be undone, and must therefore not be made with a wrong
 * clock. The guard measures the difference again if the clock may be wrong. It rejects with
 * {Unavailable} while the clock is wrong or the difference is unknown, and with
 * {EventStoreUnavailable} if it cannot be measured.
 */
export const requireMeasuredClock =
  (store: Pick<EventStore, "ping">, clockCheck: ClockCheck) => async (): Promise<void> => {
    await store.ping();
    await clockCheck.check();
    clockCheck.requireRightClock();
    if (clockCheck.isProbeNeeded()) {
      throw new Unavailable(
        "The clock of this machine has not been compared with the event store's yet.",
        10,
      );
    }
  };

const measured = (store: EventStore, { clockCheck, machineClock, time }: ServiceClock): EventStore =>
  withAppendTimes(store, {
    clock: machineClock,
    time,
    onTimes: clockCheck.observe,
    isProbeNeeded: clockCheck.isProbeNeeded,
  });

/** The EventStoreDB client is large: it is imported only where it is configured. */
const openDriver = async (
  { dataDir, eventStore }: Pick<Settings, "dataDir" | "eventStore">,
  readOnly: boolean,
  clock: () => EpochMs,
  threads: SqliteThreads | undefined,
): Promise<EventStore> => {
  if (eventStore.kind === "esdb") {
    const { openEventStoreDB } = await import("../../eventstore/eventstoredb/eventstoredb-event-store.ts");
    return await openEventStoreDB({ url: eventStore.url, readOnly });
  }
  if (!readOnly) await makePrivateDirectory(dirname(eventStore.path));
  else if (dirname(resolve(eventStore.path)) === resolve(dataDir) && !(await exists(eventStore.path)))
    throw new BadSetting(
      `DATA_DIR: there is no such file: ${resolve(eventStore.path)}. Set DATA_DIR to the data directory of the service; without it, that is ./data in the current directory`,
    );
  return await openSqliteEventStore({ path: eventStore.path, readOnly, clock, threads });
};

/**
 * Opens the user projections of the EventStoreDB server that EVENT_STORE names.
 * @throws {BadSetting}
 */
export const openProjectionServer = async ({ eventStore }: Settings): Promise<ProjectionServer> => {
  if (eventStore.kind !== "esdb") {
    throw new BadSetting("EVENT_STORE: only EventStoreDB has user projections");
  }
  const driver = await import("../../eventstore/eventstoredb/projection-server.ts");
  const open = async () => driver.openProjectionServer(eventStore.url);
  return await withSettingName("EVENT_STORE", open());
};
