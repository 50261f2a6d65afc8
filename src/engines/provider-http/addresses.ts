import { BlockList, isIP, isIPv4 } from "node:net";

/** The kind of network that an address belongs to. */
export type Reach = "anywhere" | "loopback" | "forbidden";

type Subnet = readonly [net: string, bits: number];

const loopback4: readonly Subnet[] = [["127.0.0.0", 8]];

/**
 * Never a speech server: unspecified, link-local (cloud metadata), multicast, reserved and broadcast, and the metadata
 * addresses of Alibaba, Oracle and Azure.
 */
const forbidden4: readonly Subnet[] = [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
  ["168.63.129.16", 32],
];

/**
 * Unspecified, link-local, site-local, multicast, and the metadata and workload credential addresses of AWS (two),
 * Google and Scaleway.
 */
const forbidden6: readonly Subnet[] = [
  ["::", 128],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  ["fd00:ec2::254", 128],
  ["fd00:ec2::23", 128],
  ["fd20:ce::254", 128],
  ["fd00:42::42", 128],
];

/**
 * Prefixes with an IPv4 address in the last 32 bits: compatible, mapped, translated (RFC 2765), NAT64 (RFC 6052),
 * local-use NAT64 (RFC 8215) in its usual form.
 */
const embedding = ["::", "::ffff:", "::ffff:0:", "64:ff9b::", "64:ff9b:1::"];

/** 6to4 (RFC 3056) has the IPv4 address in bits 16 to 47. */
const sixToFour = ([net, bits]: Subnet): Subnet => {
  const hex = net.split(".").map((octet) => Number(octet).toString(16).padStart(2, "0"));
  return [`2002:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}::`, 16 + bits];
};

const listOf = (four: readonly Subnet[], six: readonly Subnet[]): BlockList => {
  const list = new BlockList();
  for (const [net, bits] of four) list.addSubnet(net, bits, "ipv4");
  const embedded = four.flatMap((subnet): Subnet[] => [
    ...embedding.map((prefix): Subnet => [`${prefix}${subnet[0]}`, 96 + subnet[1]]),
    sixToFour(subnet),
  ]);
  for (const [net, bits] of [...six, ...embedded]) list.addSubnet(net, bits, "ipv6");
  return list;
};

const loopback = listOf(loopback4, [["::1", 128]]);
const forbidden = listOf(forbidden4, forbidden6);

/** Loopback is checked first: `::1` also embeds 0.0.0.1. A malformed address is forbidden. */
export const reachOf = (address: string): Reach => {
  const [plain = ""] = address.split("%"); // a zone
  if (isIP(plain) === 0) return "forbidden";
  const family = isIPv4(plain) ? "ipv4" : "ipv6";
  if (loopback.check(plain, family)) return "loopback";
  return forbidden.check(plain, family) ? "forbidden" : "anywhere";
};
