import { lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { EngineFailed } from "../../domain/errors.ts";
import { type Reach, reachOf } from "./addresses.ts";

/** Who said that a server is to be asked. */
export type Trust =
  /** The operator, in a setting: any scheme and network, but never metadata. */
  | { readonly by: "operator" }
  /** A website's credentials: https, and loopback (by http as well) only where the operator allows it. */
  | { readonly by: "website"; readonly allowLoopback: boolean };

/**
 * Keeps requests from where a server may be lured to (SSRF): judged by what the URL says, and again by every address
 * that its name has at the moment of connecting, so that a name that changes its mind gains nothing.
 */
export interface SsrfGuard {
  /** @throws {ForbiddenAddress} */
  check(url: URL): void;
  /** For the sockets of that scheme; fails with {ForbiddenAddress}. */
  lookup(protocol: "http:" | "https:"): LookupFunction;
}

/** Not to be repeated: it will be as forbidden next time. */
export class ForbiddenAddress extends EngineFailed {
  constructor(why: string) {
    super(`The speech provider's address is not allowed: ${why}.`, { permanent: true });
  }
}

/** For tests: where names lead. */
export interface SsrfGuardOptions {
  readonly resolve?: typeof resolve;
}

export const createSsrfGuard = (trust: Trust, options: SsrfGuardOptions = {}): SsrfGuard => {
  const resolveName = options.resolve ?? resolve;
  const judge = trust.by === "operator" ? judgeOperators : judgeWebsites(trust.allowLoopback);
  return {
    check: (url) => {
      if (url.protocol !== "https:" && url.protocol !== "http:")
        throw new ForbiddenAddress("neither http nor https");
      if (url.username !== "" || url.password !== "") throw new ForbiddenAddress("it holds credentials");
      const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
      if (metadataNames.has(host)) throw new ForbiddenAddress("a metadata service");
      judge(url.protocol, reachOfHost(host));
    },
    lookup: (protocol) => (hostname, options, callback) => {
      resolveName(hostname, { ...options, all: true }, (error, addresses) => {
        const refused =
          error ??
          refusal(() => {
            for (const { address } of addresses) judge(protocol, reachOf(address));
          });
        const [first] = addresses ?? [];
        if (refused || !first) callback(refused ?? new ForbiddenAddress("its name has no address"), "", 0);
        else if (options.all) callback(null, addresses);
        else callback(null, first.address, first.family);
      });
    },
  };
};

/** Names that clouds resolve to their metadata service by themselves. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** As far as it can be told before a name is resolved. The parser has made every spelling of an address the canonical one. */
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
    if (reach === "loopback" && !allowLoopback) throw new ForbiddenAddress("the loopback");
    if (reach === "anywhere" && protocol === "http:")
      throw new ForbiddenAddress("only https leaves this machine");
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
