import { lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { EngineFailed } from "../../domain/errors.ts";
import { type Reach, reachOf } from "./addresses.ts";

/** Who configured the address. */
export type Trust =
  /** The operator, in a setting: any scheme and network except metadata services. */
  | { readonly by: "operator" }
  /** A website, in its credentials, or an address of a webhook: https only; loopback, also by http, if the operator allows it. */
  | { readonly by: "website"; readonly allowLoopback: boolean };

export type SsrfGuard = ReturnType<typeof createSsrfGuard>;

/** Lasting: a retry would be refused as well. */
export class ForbiddenAddress extends EngineFailed {
  /** In a few words, without the address. */
  readonly why: string;

  constructor(why: string) {
    super(`The speech provider's address is not allowed: ${why}.`, { permanent: true });
    this.why = why;
  }
}

/**
 * Prevents server-side request forgery. Checks the URL, and every address of its name at connection time, so that
 * changed DNS records do not help an attacker. `options`: name resolution, for tests.
 */
export const createSsrfGuard = (trust: Trust, options: { readonly resolve?: typeof resolve } = {}) => {
  const resolveName = options.resolve ?? resolve;
  const judge = trust.by === "operator" ? judgeOperators : judgeWebsites(trust.allowLoopback);
  const judgeUrl = ({ protocol, username, password, hostname }: URL): string | undefined => {
    if (protocol !== "https:" && protocol !== "http:") return "neither http nor https";
    if (username !== "" || password !== "") return "it contains credentials";
    const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
    return metadataNames.has(host) ? "a metadata service" : judge(protocol, reachOfHost(host));
  };
  return {
    /** @throws {ForbiddenAddress} */
    check: (url: URL): void => {
      const why = judgeUrl(url);
      if (why !== undefined) throw new ForbiddenAddress(why);
    },
    /** `lookup` of sockets with that scheme; fails with {ForbiddenAddress}. */
    lookup:
      (protocol: "http:" | "https:"): LookupFunction =>
      (hostname, options, callback) => {
        resolveName(hostname, { ...options, all: true }, (error, addresses) => {
          if (error) return callback(error, "", 0);
          const reasons = addresses.map(({ address }) => judge(protocol, reachOf(address)));
          const why = reasons.find((one) => one !== undefined);
          const [first] = addresses;
          if (why !== undefined || !first)
            callback(new ForbiddenAddress(why ?? "its name does not resolve"), "", 0);
          else if (options.all) callback(null, addresses);
          else callback(null, first.address, first.family);
        });
      },
  };
};

/** Names that clouds resolve to their metadata service. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** Before name resolution. The URL parser has normalized every spelling of an address. */
const reachOfHost = (host: string): Reach => {
  if (isIP(host) !== 0) return reachOf(host);
  return host === "localhost" || host.endsWith(".localhost") ? "loopback" : "anywhere";
};

/** Why an address is not allowed; undefined if it is. */
type Judge = (protocol: string, reach: Reach) => string | undefined;

const judgeOperators: Judge = (_protocol, reach) =>
  reach === "forbidden" ? "link-local, metadata, multicast or reserved" : undefined;

const judgeWebsites =
  (allowLoopback: boolean): Judge =>
  (protocol, reach) => {
    if (reach === "forbidden") return judgeOperators(protocol, reach);
    if (reach === "loopback") return allowLoopback ? undefined : "a loopback address";
    return protocol === "http:" ? "only https may leave this machine" : undefined;
  };
