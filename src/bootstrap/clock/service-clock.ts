import { lookup } from "node:dns/promises";
import { BlockList, isIPv6 } from "node:net";
import { networkInterfaces, uptime } from "node:os";
import {
  createClockCheck,
  type MachineClocks,
  type TimeSource,
} from "../../application/clock/clock-check.ts";
import { systemTime, type Time } from "../../async/time.ts";
import type { Settings } from "../../settings/read-settings.ts";
import type { EventStoreAddress } from "../../settings/schemas.ts";
import { makePrivateDirectory } from "../private-directory.ts";
import { createBootRecord } from "./boot-record.ts";
import { timeServers } from "./time-servers.ts";

/** The clocks of a machine, and its other sources of time. Tests replace them. */
export interface Machine extends MachineClocks {
  /** Measures the time since the start of the machine. Default: its uptime. */
  readonly time?: Pick<Time, "now">;
  readonly sources?: readonly TimeSource[];
  /** If false, nothing is recorded for later processes. */
  readonly keepsRecord?: boolean;
}

/**
 * `struct timex` is smaller. With zeros in it, `adjtimex` changes nothing and needs no privilege,
 * also in a container.
 */
const structBytes = 512;
/**
 * `adjtimex` returns it while no program keeps the clock synchronised, and after the clock was set,
 * until one has synchronised it again.
 */
const timeError = 5;

/** The kernel's state of synchronisation, which NTP clients report to it: see adjtimex(2). */
export const kernelClock: TimeSource = {
  name: "the kernel",
  difference: async () => {
    // The binding is loaded only when the kernel is asked. `null` stands for this program, which is
    // linked with the C library.
    const { default: koffi } = await import("koffi");
    const adjtimex = koffi.load(null).func("int adjtimex(void *)");
    const state: number = adjtimex(Buffer.alloc(structBytes));
    return state >= 0 && state !== timeError ? 0 : undefined;
  },
};

/**
 * `uptime` includes the time during which the machine was suspended (/proc/uptime); it costs 5 µs.
 */
const thisMachine: Machine = {
  clock: Date.now,
  uptime: () => uptime() * 1_000,
  time: systemTime,
  sources: [kernelClock],
  keepsRecord: true,
};

/** This machine's clock as the service uses it. */
export type ServiceClock = Awaited<ReturnType<typeof composeClock>>;

/**
 * Composes the clock of `machine`, by default of this one. Asks its sources once before it
 * resolves.
 */
export const composeClock = async (
  { dataDir, eventStore, timeServers: servers }: Pick<Settings, "dataDir" | "eventStore" | "timeServers">,
  onWarning: (message: string) => void,
  machine: Machine = thisMachine,
) => {
  const { sources = [], keepsRecord = false, time = { now: machine.uptime }, ...clocks } = machine;
  const record = keepsRecord ? createBootRecord(dataDir) : undefined;
  let isElsewhere = false;
  // This source never knows the time. Each time it is asked, it finds out whether the event store
  // is on another machine: the name may not resolve yet when the service starts.
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
      ...(servers.length === 0 ? [] : [timeServers(servers, clocks.clock)]),
      ...sources,
    ],
    isStoreElsewhere: () => isElsewhere,
    agreement: record?.agreement,
    onAgreement: record?.write ?? (() => {}),
    onWarning,
  });
  await clockCheck.check();
  return {
    /** The time, corrected while the clock is wrong: see `ClockCheck.now`. */
    clock: clockCheck.now,
    /** The wall clock, uncorrected. */
    machineClock: clocks.clock,
    time,
    clockCheck,
  };
};

/**
 * True if the event store's clock is another machine's. An address in a network of this machine may
 * be that of a container on it, so such a store does not count: its times are compared, but it
 * cannot confirm a clock that was set.
 */
export const isOnOtherMachine = async (address: EventStoreAddress): Promise<boolean> => {
  if (address.kind !== "esdb") return false;
  const near = nearNetworks();
  const found = await Promise.all(hostsOf(address.url).map((host) => lookup(host, { all: true })));
  const addresses = found.flat();
  return (
    addresses.length > 0 &&
    addresses.every(({ address: one }) => !near.check(one, isIPv6(one) ? "ipv6" : "ipv4"))
  );
};

const nearNetworks = (): BlockList => {
  const near = new BlockList();
  for (const { cidr, family } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
    const [network = "", bits] = cidr?.split("/") ?? [];
    if (bits !== undefined) near.addSubnet(network, Number(bits), family === "IPv6" ? "ipv6" : "ipv4");
  }
  return near;
};

/** Reads the hosts of a connection string: one node, several, or a name that is discovered. */
const hostsOf = (url: string): string[] => {
  const [, hosts = ""] = /^[^/]*:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url) ?? [];
  return hosts.split(",").map((host) => new URL(`esdb://${host}`).hostname.replace(/^\[|\]$/g, ""));
};
