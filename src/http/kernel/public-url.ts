import type { IncomingMessage } from "node:http";
import { Invalid } from "../../domain/errors.ts";
import { trustedProxies } from "./client-address.ts";

/** The base URL for links in the response to a request, without a trailing slash. */
export type PublicUrl = (request: IncomingMessage) => string;

/**
 * Returns PUBLIC_URL if it is set. Otherwise it takes the scheme and host from the request, or from
 * a trusted proxy's `X-Forwarded-Proto` and `X-Forwarded-Host`, of which only the last value is the
 * proxy's own.
 * @throws {Invalid} for a malformed host
 */
export const createPublicUrl = ({
  publicUrl,
  trustProxy,
}: {
  publicUrl: string | undefined;
  trustProxy: readonly string[];
}): PublicUrl => {
  if (publicUrl !== undefined) return () => publicUrl;
  const isProxy = trustedProxies(trustProxy);
  return ({ headers, socket }) => {
    const forwards = trustProxy.length > 0 && isProxy(socket.remoteAddress ?? "");
    const scheme = forwards ? lastOf(headers["x-forwarded-proto"])?.toLowerCase() : undefined;
    const host = (forwards && lastOf(headers["x-forwarded-host"])) || (headers.host ?? "");
    return originOf(scheme === "https" ? "https" : "http", host);
  };
};

/** The path of PUBLIC_URL; empty at the root of a host. */
export const publicPathOf = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/+$/, "");

/** The same URL with the scheme of a WebSocket. */
export const websocketUrl = (base: string): string => base.replace(/^http/, "ws");

const lastOf = (values: string | string[] | undefined): string | undefined =>
  values === undefined ? undefined : String(values).split(",").at(-1)?.trim();

/**
 * Matches a host name or address with an optional port, and nothing that could change the rest of a
 * link.
 */
const hostShape = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

const originOf = (scheme: string, host: string): string => {
  const url = hostShape.test(host) && host.length <= 300 ? URL.parse(`${scheme}://${host}`) : null;
  if (!url) throw new Invalid([{ path: ["Host"], message: "Host is not a host." }]);
  return url.origin;
};
