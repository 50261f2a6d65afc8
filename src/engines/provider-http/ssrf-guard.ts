import { lookup as resolve } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { EngineFailed } from "../../domain/errors.ts";
import { addressesIn, networksOf, reachOf } from "./addresses.ts";

/** States who configured the address, which decides what is allowed. */
export type Trust =
  /** The operator, in a setting: any scheme and network except metadata services. */
  | { readonly by: "operator" }
  /** A website, in its credentials, or an address of a webhook. */
  | ({ readonly by: "website" } & AllowedNetworks);

/**
 * Websites may reach public networks by https, and what the operator allows here; never metadata
 * services.
 */
export interface AllowedNetworks {
  /** This machine, also by http. */
  readonly allowLoopback: boolean;
  /** Addresses or CIDRs. */
  readonly networks: readonly string[];
}

export type SsrfGuard = ReturnType<typeof createSsrfGuard>;

/** A retry would be refused as well, so the failure is permanent. */
export class ForbiddenAddress extends EngineFailed {
  /** The reason in a few words, without the address. */
  readonly why: string;
  /** True if it depends on name resolution, and not on the URL alone. */
  readonly isResolved: boolean;

  constructor(why: string, { isResolved = false }: { readonly isResolved?: boolean } = {}) {
    super(`The speech provider's address is not allowed: ${why}.`, { permanent: true });
    this.why = why;
    this.isResolved = isResolved;
  }
}

/**
 * Prevents server-side request forgery. Checks the URL, and every address of its name at connection
 * time, so that changed DNS records do not help an attacker. `options`: name resolution, for tests.
 */
export const createSsrfGuard = (trust: Trust, options: { readonly resolve?: typeof resolve } = {}) => {
  const resolveName = options.resolve ?? resolve;
  const { refusalOfName, refusalOfAddress } =
    trust.by === "operator" ? refusalsForOperator : refusalsForWebsite(trust);
  const refusalOf = ({ protocol, username, password, hostname }: URL): string | undefined => {
    if (protocol !== "https:" && protocol !== "http:") return "neither http nor https";
    if (username !== "" || password !== "") return "it contains credentials";
    const host = hostOf(hostname);
    if (isIP(host) !== 0) return refusalOfAddress(protocol, host);
    return metadataNames.has(host) ? "a metadata service" : refusalOfName(protocol, host);
  };
  return {
    /** @throws {ForbiddenAddress} */
    check: (url: URL): void => {
      const why = refusalOf(url);
      if (why !== undefined) throw new ForbiddenAddress(why);
    },
    /** `lookup` of sockets with that scheme; fails with {ForbiddenAddress}. */
    lookup:
      (protocol: "http:" | "https:"): LookupFunction =>
      (hostname, options, callback) => {
        resolveName(hostname, { ...options, all: true }, (error, addresses) => {
          if (error) return callback(error, "", 0);
          const reasons = addresses.map(({ address }) => refusalOfAddress(protocol, address));
          const why = reasons.find((one) => one !== undefined);
          const [first] = addresses;
          if (why !== undefined || !first)
            callback(new ForbiddenAddress(why ?? "its name does not resolve", { isResolved: true }), "", 0);
          else if (options.all) callback(null, addresses);
          else callback(null, first.address, first.family);
        });
      },
  };
};

/**
 * Returns what the operator would have to allow for a website's server, as networks of one address.
 * Empty if the server is allowed already, or if no setting can allow it. `resolveName` is for
 * tests.
 * @throws if its name does not resolve
 */
export const missingNetworks = async (
  { protocol, hostname }: URL,
  { networks }: AllowedNetworks,
  resolveName: (host: string, options: { all: true }) => Promise<readonly { address: string }[]> = lookup,
): Promise<string[]> => {
  const host = hostOf(hostname);
  if (protocol !== "https:") return [];
  const resolved = isIP(host) === 0 ? await resolveName(host, { all: true }) : [{ address: host }];
  const addresses = resolved.flatMap(({ address }) => addressesIn(address));
  if (addresses.some((one) => reachOf(one) === "forbidden")) return [];
  const isNamed = networksOf(networks);
  const missing = addresses.filter((one) => reachOf(one) === "private" && !isNamed(one));
  return missing.map((one) => `${one}/${isIP(one) === 4 ? 32 : 128}`);
};

/** Omits the brackets of an IPv6 address and the dot at the end of a name. */
const hostOf = (hostname: string): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");

/** Names that clouds resolve to their metadata service. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** Returns why something is not allowed; undefined if it is allowed. */
type Refusal = (protocol: string, hostOrAddress: string) => string | undefined;

interface Refusals {
  /** Decides before name resolution. */
  readonly refusalOfName: Refusal;
  readonly refusalOfAddress: Refusal;
}

const forbidden = "link-local, metadata, multicast or reserved";

const refusalsForOperator: Refusals = {
  refusalOfName: () => undefined,
  refusalOfAddress: (_, address) =>
    addressesIn(address).some((one) => reachOf(one) === "forbidden") ? forbidden : undefined,
};

const onlyHttps = "only https may leave this machine";

const refusalsForWebsite = ({ allowLoopback, networks }: AllowedNetworks): Refusals => {
  const isNamed = networksOf(networks);
  const refusalOfAddress: Refusal = (protocol, address) => {
    const addresses = addressesIn(address);
    if (addresses.some((one) => reachOf(one) === "forbidden")) return forbidden;
    const elsewhere = addresses.filter((one) => !(allowLoopback && reachOf(one) === "loopback"));
    const unnamed = elsewhere.filter((one) => !isNamed(one)).map(reachOf);
    if (unnamed.includes("private")) return "in a private network";
    if (unnamed.includes("loopback")) return "a loopback address";
    return protocol === "http:" && elsewhere.length > 0 ? onlyHttps : undefined;
  };
  return {
    refusalOfAddress,
    refusalOfName: (protocol, host) => {
      if (isLocalhost(host)) return refusalOfAddress(protocol, "127.0.0.1");
      if (protocol === "http:") return onlyHttps;
      // If networks are allowed, the address decides.
      return isInternalName(host) && networks.length === 0 ? "a name of a private network" : undefined;
    },
  };
};

const isLocalhost = (host: string): boolean => host === "localhost" || host.endsWith(".localhost");

/**
 * True for a name without a dot, and for those of clusters and local networks: no name server of
 * the internet knows them.
 */
const isInternalName = (host: string): boolean =>
  !host.includes(".") ||
  /\.(?:svc|local|internal|localdomain|lan|home|corp|intranet|private|home\.arpa)$/.test(host);
