import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
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
const handshakeTimeoutMs = 2_000;

/**
 * Creates a client for a connection string: `esdb://` with one node or several, or
 * `esdb+discover://` with a DNS name. It does not connect yet.
 * @throws {TypeError} if the string is invalid; the message is one line and repeats nothing of the
 * string
 */
export const clientFor = (url: string): EventStoreDBClient => {
  validateOptions(url);
  ignoreUnknownResponses();
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
  if (url.split("?").length > 2)
    throw new TypeError("the connection string is malformed: it has more than one question mark");
  for (const [option, value] of optionsOf(url)) {
    if (!knownOptions.has(option)) throw new TypeError("the connection string has an unknown option");
    if (option.startsWith("keepalive") && Number(value) >= 0 && Number(value) < minKeepAliveMs)
      throw new TypeError(`keep-alive must be at least ${minKeepAliveMs} ms, or -1`);
  }
};

const optionsOf = (url: string): Map<string, string> =>
  new Map(
    [...new URLSearchParams(url.split("?")[1])].map(([name, value]) => [
      name.toLowerCase().replaceAll(/[_-]/g, ""),
      value,
    ]),
  );

/**
 * Finds out why Node.js refuses the TLS certificate of a server that the connection string names
 * (`self-signed certificate`, `certificate has expired`, …), or undefined. The gRPC client and its
 * discovery report only that no connection was made.
 */
export const certificateProblem = async (url: string): Promise<string | undefined> => {
  const options = optionsOf(url);
  if (options.get("tls") === "false") return undefined;
  const file = options.get("tlscafile");
  const authority = file === undefined ? undefined : await readFile(file).catch(() => undefined);
  const [, hosts = ""] = /^[^/]*:\/\/(?:[^@/]*@)?([^/?]*)/.exec(url) ?? [];
  const problems = await Promise.all(
    hosts.split(",").map((host) => problemAt(new URL(`esdb://${host}`), authority)),
  );
  return problems.find((problem) => problem !== undefined);
};

const problemAt = (server: URL, authority: Buffer | undefined): Promise<string | undefined> =>
  new Promise((resolve) => {
    const host = server.hostname.replace(/^\[|\]$/g, "");
    const socket: TLSSocket = connect({
      host,
      port: Number(server.port || defaultPort),
      ...(isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ["h2"],
      ...(authority && { ca: authority }),
    });
    const settle = (problem?: string): void => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(handshakeTimeoutMs, settle);
    socket.on("secureConnect", () => settle());
    socket.on("error", (error: NodeJS.ErrnoException) => settle(describe(error)));
  });

/**
 * Describes the error without a host, by OpenSSL's codes for certificates:
 * https://nodejs.org/api/tls.html#x509-certificate-error-codes.
 */
const describe = ({ code = "", message }: NodeJS.ErrnoException): string | undefined => {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "it is for another host";
  return /CERT|SIGNATURE|CRL|_CA$|ISSUER|CHAIN/.test(code) ? message.split(";")[0] : undefined;
};
