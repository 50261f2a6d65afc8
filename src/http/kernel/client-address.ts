import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** The address of the client: the socket's, or the one that a trusted proxy reports. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Reads `X-Forwarded-For` from the right while the writer of each entry is in a trusted network
 * (addresses or CIDRs). Clients can forge everything further left.
 */
export const clientAddress = (trusted: readonly string[]): ClientAddress => {
  const isProxy = trustedProxies(trusted);
  return (request) => {
    const peer = plain(request.socket.remoteAddress ?? "");
    if (trusted.length === 0 || !isProxy(peer)) return peer;
    const forwarded = String(request.headers["x-forwarded-for"] ?? "").split(",");
    let client = peer;
    for (const entry of forwarded.reverse()) {
      const address = plain(entry.trim());
      if (isIP(address) === 0) break;
      client = address;
      if (!isProxy(address)) break;
    }
    return client;
  };
};

/** Tests whether an address is in one of the networks (addresses or CIDRs). */
export const trustedProxies = (trusted: readonly string[]): ((address: string) => boolean) => {
  const proxies = new BlockList();
  for (const network of trusted) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const known = plain(address);
    const family = isIP(known);
    return family !== 0 && proxies.check(known, family === 4 ? "ipv4" : "ipv6");
  };
};

/** Converts IPv4-mapped IPv6 addresses to IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
