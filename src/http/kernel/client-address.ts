import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { clientNetwork } from "../../limits/client-network.ts";

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

/**
 * The network that identifies a client without credentials, which limits count. It is undefined for
 * proxies and CDNs, which stand for many clients.
 */
export type ClientOwner = (request: IncomingMessage) => string | undefined;

/** `unlimited`: the networks of proxies and CDNs (addresses or CIDRs). */
export const createClientOwner = (clientOf: ClientAddress, unlimited: readonly string[]): ClientOwner => {
  const isUnlimited = trustedProxies(unlimited);
  return (request) => {
    const address = clientOf(request);
    return isUnlimited(address) ? undefined : clientNetwork(address);
  };
};

/** Converts IPv4-mapped IPv6 addresses to IPv4. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
