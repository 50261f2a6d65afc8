import { BlockList, isIP, isIPv4 } from "node:net";

/** The kind of network that an address belongs to. */
type Reach = "public" | "private" | "loopback" | "forbidden";

type Subnet = readonly [net: string, bits: number];

const loopback: readonly Subnet[] = [
  ["127.0.0.0", 8],
  ["::1", 128],
];

/**
 * Addresses that are never a speech server: unspecified, link-local (cloud metadata), site-local,
 * multicast, reserved and broadcast, and the metadata and workload credential addresses of Alibaba,
 * Oracle, Azure, AWS (two), Google and Scaleway.
 */
const forbidden: readonly Subnet[] = [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
  ["168.63.129.16", 32],
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
 * Networks that are not globally reachable (the registries of IANA for special-purpose addresses):
 * private use (RFC 1918), shared address space (RFC 6598), protocol assignments, documentation,
 * 6to4 relays and benchmarking.
 */
const private4: readonly Subnet[] = [
  ["10.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["100.64.0.0", 10],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
];

/**
 * Global unicast, from which `private6` excepts some subnets, and the prefixes under which a
 * translator represents public IPv4 addresses: mapped, and NAT64 (RFC 6052). Unique local addresses
 * and local-use NAT64 (RFC 8215) are outside.
 */
const public6: readonly Subnet[] = [
  ["2000::", 3],
  ["::ffff:0:0", 96],
  ["64:ff9b::", 96],
];

/** Protocol assignments (Teredo among them), documentation and 6to4. */
const private6: readonly Subnet[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
  ["2002::", 16],
];

/** Tests whether an address, without a zone, is in one of the subnets. */
type Contains = (address: string) => boolean;

const familyOf = (address: string): "ipv4" | "ipv6" => (isIPv4(address) ? "ipv4" : "ipv6");

const listOf = (subnets: readonly Subnet[]): Contains => {
  const list = new BlockList();
  for (const [net, bits] of subnets) list.addSubnet(net, bits, familyOf(net));
  return (address) => list.check(address, familyOf(address));
};

/** `networks`: addresses or CIDRs. */
export const networksOf = (networks: readonly string[]): Contains =>
  listOf(
    networks.map((network): Subnet => {
      const [address = "", bits = isIPv4(address) ? 32 : 128] = network.split("/");
      return [address, Number(bits)];
    }),
  );

const isLoopback = listOf(loopback);
const isForbidden = listOf(forbidden);
const isPrivate4 = listOf(private4);
const isPrivate6 = listOf(private6);
const isPublic6 = listOf(public6);

/**
 * Returns the kind of network of the address itself, whatever addresses it embeds. A malformed
 * address is forbidden.
 */
export const reachOf = (address: string): Reach => {
  if (isIP(address) === 0) return "forbidden";
  if (isLoopback(address)) return "loopback";
  if (isForbidden(address)) return "forbidden";
  const isPrivate = isIPv4(address) ? isPrivate4(address) : !isPublic6(address) || isPrivate6(address);
  return isPrivate ? "private" : "public";
};

/**
 * The address, without its zone, and the IPv4 addresses that it embeds: a translator or a tunnel
 * may connect to them.
 */
export const addressesIn = (address: string): string[] => {
  const [plain = ""] = address.split("%");
  return isIP(plain) !== 6 || isLoopback(plain) ? [plain] : [plain, ...embeddedIn(plain)];
};

/**
 * Compatible, mapped, translated (RFC 2765), NAT64 (RFC 6052), and local-use NAT64 (RFC 8215) in
 * its usual form.
 */
const endsInIpv4 = listOf([
  ["::", 96],
  ["::ffff:0:0", 96],
  ["::ffff:0:0:0", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
]);
const is6to4 = listOf([["2002::", 16]]); // RFC 3056
const isTeredo = listOf([["2001::", 32]]); // RFC 4380: a server, and a client with inverted bits

const embeddedIn = (address: string): string[] => {
  const [, g1, g2, g3, g4 = 0, g5, g6 = 0, g7 = 0] = groupsOf(address);
  const isIsatap = (g4 & 0xfcff) === 0 && g5 === 0x5efe; // RFC 5214
  return [
    ...(endsInIpv4(address) || isIsatap ? [ipv4(g6, g7)] : []),
    ...(is6to4(address) ? [ipv4(g1, g2)] : []),
    ...(isTeredo(address) ? [ipv4(g2, g3), ipv4(~g6, ~g7)] : []),
  ];
};

const ipv4 = (high = 0, low = 0): string =>
  [high >> 8, high, low >> 8, low].map((octet) => octet & 0xff).join(".");

/** The eight groups of an IPv6 address in any spelling, which the URL parser normalizes. */
const groupsOf = (address: string): number[] => {
  const [front = [], back] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")));
  const zeros = back ? Array<string>(8 - front.length - back.length).fill("0") : [];
  return [...front, ...zeros, ...(back ?? [])].map((group) => Number.parseInt(group, 16));
};
