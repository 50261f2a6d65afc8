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
  return {
    /** @throws {ForbiddenAddress} */
    check: (url: URL): void => {
      if (url.protocol !== "https:" && url.protocol !== "http:")
        throw new ForbiddenAddress("neither http nor https");
      if (url.username !== "" || url.password !== "") throw new ForbiddenAddress("it contains credentials");
      const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
      if (metadataNames.has(host)) throw new ForbiddenAddress("a metadata service");
      judge(url.protocol, reachOfHost(host));
    },
    /** `lookup` of sockets with that scheme; fails with {ForbiddenAddress}. */
    lookup:
      (protocol: "http:" | "https:"): LookupFunction =>
      (hostname, options, callback) => {
        resolveName(hostname, { ...options, all: true }, (error, addresses) => {
          const refused =
            error ??
            refusal(() => {
              for (const { address } of addresses) judge(protocol, reachOf(address));
            });
          const [first] = addresses ?? [];
          if (refused || !first)
            callback(refused ?? new ForbiddenAddress("its name does not resolve"), "", 0);
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

type Judge = (protocol: string, reach: Reach) => void;

const judgeOperators: Judge = (_protocol, reach) => {
  if (reach === "forbidden") throw new ForbiddenAddress(neverAServer);
};

const judgeWebsites =
  (allowLoopback: boolean): Judge =>
  (protocol, reach) => {
    if (reach === "forbidden") throw new ForbiddenAddress(neverAServer);
    if (reach === "loopback" && !allowLoopback) throw new ForbiddenAddress("a loopback address");
    if (reach === "anywhere" && protocol === "http:")
      throw new ForbiddenAddress("only https may leave this machine");
  };

const neverAServer = "link-local, metadata, multicast or reserved";

const refusal = (judgement: () => void): Error | undefined => {
  try {
    judgement();
    return undefined;
  } catch (error) {
    return error as Error;
  }
};
