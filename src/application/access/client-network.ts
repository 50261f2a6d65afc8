/**
 * Whom an address is taken for: an IPv4 address for itself, an IPv6 address for its /64, because a single host may take
 * any address in there. Anything else is left as it is.
 */
export const clientNetwork = (address: string): string => {
  if (!address.includes(":")) return address;
  const [plain = ""] = address.toLowerCase().split("%");
  const [head = "", tail] = plain.split("::");
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: zeros }, () => "0"), ...back];
  // An IPv4 address in an IPv6 coat: all of them share one /64.
  if (groups[5] === "ffff" && groups.slice(0, 5).every((group) => group === "0")) return plain;
  return `${groups.slice(0, 4).join(":")}::/64`;
};

/** Without leading zeros; an IPv4 tail (`::ffff:192.0.2.1`) takes the place of two. */
const groupsOf = (part: string): string[] =>
  part === ""
    ? []
    : part
        .split(":")
        .flatMap((group) => (group.includes(".") ? [group, ""] : [group.replace(/^0+(?=.)/, "")]));
