/**
 * Returns the network that identifies a client: an IPv4 address, or the /64 of an IPv6 address,
 * because one host may use any address in it. Anything else is returned unchanged.
 */
export const clientNetwork = (address: string): string => {
  if (!address.includes(":")) return address;
  const [plain = ""] = address.toLowerCase().split("%");
  const [head = "", tail] = plain.split("::");
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: zeros }, () => "0"), ...back];
  // IPv4-mapped addresses stay as they are, because all of them share one /64.
  if (groups[5] === "ffff" && groups.slice(0, 5).every((group) => group === "0")) return plain;
  return `${groups.slice(0, 4).join(":")}::/64`;
};

/** Where credentials are presented. Failures at one access point do not count at another. */
export type AccessPoint = "website" | "admin" | "websocket";

/** Returns the name under which a client's wrong secrets are counted at an access point. */
export const presenterOf = (client: string, at: AccessPoint): string => `${at} ${clientNetwork(client)}`;

/**
 * Returns the groups of a part of an IPv6 address, without leading zeros. An IPv4 suffix
 * (`::ffff:192.0.2.1`) counts as two groups.
 */
const groupsOf = (part: string): string[] =>
  part === ""
    ? []
    : part
        .split(":")
        .flatMap((group) => (group.includes(".") ? [group, ""] : [group.replace(/^0+(?=.)/, "")]));
