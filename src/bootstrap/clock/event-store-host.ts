import { lookup } from "node:dns/promises";
import { BlockList, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import type { EventStoreAddress } from "../../settings/schemas.ts";

/**
 * Whether the event store's clock is that of another machine. An address in a network of this
 * machine may be that of a container on it, so such a store does not count: its times are compared,
 * but it cannot confirm a clock that was set.
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

/** Of a connection string: one node, several, or a name that is discovered. */
const hostsOf = (url: string): string[] => {
  const [, hosts = ""] = /^[^/]*:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url) ?? [];
  return hosts.split(",").map((host) => new URL(`esdb://${host}`).hostname.replace(/^\[|\]$/g, ""));
};
