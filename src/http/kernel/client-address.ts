import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Tells who is asking: the socket's address, or what a trusted proxy says of it. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * `X-Forwarded-For` is read from its right end, as long as the one who wrote each entry is in a trusted network
 * (addresses or CIDRs): what stands further left may be anybody's invention.
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

/** Tells whether an address is in one of the networks (addresses or CIDRs). */
export const trustedProxies = (trusted: readonly string[]): ((address: string) => boolean) => {
  const proxies = blockList(trusted);
  return (address) => {
    const known = plain(address);
    const family = isIP(known);
    return family !== 0 && proxies.check(known, family === 4 ? "ipv4" : "ipv6");
  };
};

const blockList = (networks: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
};

/** An IPv4 address in an IPv6 coat is the IPv4 address. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, "");
