import { isIP } from "node:net";
import { EventStoreDBClient } from "@eventstore/db-client";
import { ignoreUnknownResponses } from "./unknown-responses.ts";

/**
 * If the string has any other option, the client prints a warning with the whole string,
 * credentials included.
 */
const knownOptions = new Set([
  "connectionname",
  "defaultdeadline",
  "discoveryinterval",
  "gossiptimeout",
  "keepaliveinterval",
  "keepalivetimeout",
  "maxdiscoverattempts",
  "nodepreference",
  "tls",
  "tlscafile",
  "usercertfile",
  "userkeyfile",
]);

const minKeepAliveMs = 10_000;
const defaultPort = 2113;

/**
 * Creates a client for a connection string: `esdb://` with one node or several, or
 * `esdb+discover://` with a DNS name. It does not connect yet.
 * @throws {TypeError} if the string is invalid; the message is one line and repeats nothing of the
 * string
 */
export const clientFor = (url: string): EventStoreDBClient => {
  validateOptions(url);
  ignoreUnknownResponses();
  if (hasTls(url) && serversOf(url).some(({ host }) => isIP(host) !== 0)) ignoreServerNameWarning();
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    // The client's own message quotes the string, credentials included.
    const { expected } = error as { expected?: unknown };
    if (typeof expected !== "string")
      throw new TypeError("the connection string names a file or a value that cannot be used");
    throw new TypeError(`the connection string is malformed: expected ${expected}`);
  }
};

const validateOptions = (url: string): void => {
  if (!/^esdb(\+discover)?:\/\//.test(url))
    throw new TypeError("the connection string must begin with esdb:// or esdb+discover://");
  // Without this, a password with an unescaped slash would end the host, and be part of messages.
  if (/^[^/]*:\/\/[^/?]*\/[^?]/.test(url))
    throw new TypeError("the connection string is malformed: write a / in a user or password as %2F");
  if (url.split("?").length > 2)
    throw new TypeError("the connection string is malformed: it has more than one question mark");
  for (const [option, value] of optionsOf(url)) {
    if (!knownOptions.has(option)) throw new TypeError("the connection string has an unknown option");
    if (option.startsWith("keepalive") && Number(value) >= 0 && Number(value) < minKeepAliveMs)
      throw new TypeError(`keep-alive must be at least ${minKeepAliveMs} ms, or -1`);
  }
};

/** The options by their names in lower case, without hyphens and underscores. */
export const optionsOf = (url: string): ReadonlyMap<string, string> =>
  new Map(
    [...new URLSearchParams(url.split("?")[1])].map(([name, value]) => [
      name.toLowerCase().replaceAll(/[_-]/g, ""),
      value,
    ]),
  );

export const hasTls = (url: string): boolean => optionsOf(url).get("tls") !== "false";

/** The servers that a connection string names. */
export const serversOf = (url: string): readonly { readonly host: string; readonly port: number }[] => {
  const [, hosts = ""] = /^[^/]*:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url) ?? [];
  return hosts.split(",").flatMap((server) => {
    const parsed = URL.parse(`esdb://${server}`);
    if (!parsed) return [];
    return [{ host: parsed.hostname.replace(/^\[|\]$/g, ""), port: Number(parsed.port || defaultPort) }];
  });
};

let isWarningIgnored = false;

/**
 * Keeps the warning DEP0123 off standard error: the gRPC client sends the host as the TLS server
 * name, also if it is an IP address (grpc-js 1.14, `channel-credentials.js`), which operators
 * cannot change.
 */
const ignoreServerNameWarning = (): void => {
  if (isWarningIgnored) return;
  isWarningIgnored = true;
  const emitWarning = process.emitWarning as (...warning: unknown[]) => void;
  process.emitWarning = (...warning: unknown[]): void => {
    if (!warning.includes("DEP0123")) emitWarning.apply(process, warning);
  };
};
