import type { IncomingMessage } from "node:http";
import { Invalid } from "../../domain/errors.ts";
import { trustedProxies } from "./client-address.ts";

/** The address that the service has for this request: links are made under it. No slash at its end. */
export type PublicUrl = (request: IncomingMessage) => string;

/**
 * PUBLIC_URL where it is set. Else the request's own scheme and host: as a trusted proxy says that they were
 * (`X-Forwarded-Proto`, `X-Forwarded-Host`; of several values the last, which is the proxy's own), or as they are.
 * @throws {Invalid} for a host that no address can have
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

/** The path of PUBLIC_URL, under which callers know the service; empty at a host's root. */
export const publicPathOf = (publicUrl: string | undefined): string =>
  publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/+$/, "");

/** The same place, for a websocket. */
export const websocketUrl = (base: string): string => base.replace(/^http/, "ws");

const lastOf = (values: string | string[] | undefined): string | undefined =>
  values === undefined ? undefined : String(values).split(",").at(-1)?.trim();

/** Names, addresses and a port: nothing that would make another address of a link. */
const hostShape = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

const originOf = (scheme: string, host: string): string => {
  const url = hostShape.test(host) && host.length <= 300 ? URL.parse(`${scheme}://${host}`) : null;
  if (!url) throw new Invalid([{ path: ["Host"], message: "Host is not a host." }]);
  return url.origin;
};
