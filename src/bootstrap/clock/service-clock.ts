import { uptime } from "node:os";
import {
  createClockCheck,
  type MachineClocks,
  type TimeSource,
} from "../../application/clock/clock-check.ts";
import type { Settings } from "../../settings.ts";
import { makePrivateDirectory } from "../private-directory.ts";
import { createBootRecord } from "./boot-record.ts";
import { isOnOtherMachine } from "./event-store-host.ts";
import { kernelClock } from "./kernel-clock.ts";
import { timeServers } from "./time-servers.ts";

/** The clocks of a machine that tests replace, and what it knows besides them. */
export interface Machine extends MachineClocks {
  /** Milliseconds. Default: the uptime. */
  readonly monotonic?: () => number;
  readonly sources?: readonly TimeSource[];
  /** False: nothing outlives the process. */
  readonly keepsRecord?: boolean;
}

/**
 * `uptime` includes the time during which the machine was suspended (/proc/uptime); it costs 5 µs.
 */
const thisMachine: Machine = {
  wall: Date.now,
  uptime: () => uptime() * 1_000,
  monotonic: () => performance.now(),
  sources: [kernelClock],
  keepsRecord: true,
};

/** This machine's clock as the service uses it. */
export type ServiceClock = Awaited<ReturnType<typeof composeClock>>;

/** `machine`: default this one. Its sources are asked once before this resolves. */
export const composeClock = async (
  { dataDir, eventStore, timeServers: servers }: Pick<Settings, "dataDir" | "eventStore" | "timeServers">,
  onWarning: (message: string) => void,
  machine: Machine = thisMachine,
) => {
  const { sources = [], keepsRecord = false, monotonic = machine.uptime, ...clocks } = machine;
  const record = keepsRecord ? createBootRecord(dataDir) : undefined;
  let isElsewhere = false;
  // Never knows the time itself. Its name may not be known yet when the service starts.
  const eventStoreHost: TimeSource = {
    name: "the event store",
    difference: async () => {
      isElsewhere = await isOnOtherMachine(eventStore);
      return undefined;
    },
  };
  if (keepsRecord) await makePrivateDirectory(dataDir).catch(() => {}); // reported when the log is opened
  const clockCheck = createClockCheck({
    clocks,
    sources: [
      eventStoreHost,
      ...(servers.length === 0 ? [] : [timeServers(servers, clocks.wall)]),
      ...sources,
    ],
    isStoreElsewhere: () => isElsewhere,
    agreement: record?.agreement,
    onAgreement: record?.write ?? (() => {}),
    onWarning,
  });
  await clockCheck.check();
  return {
    /** Milliseconds since the epoch; of a wrong clock as `ClockCheck.now`. */
    clock: clockCheck.now,
    /** The wall clock as it is. */
    wall: clocks.wall,
    monotonic,
    clockCheck,
  };
};
