import { EventStoreDBClient } from "@eventstore/db-client";

/** The options that mean something to the client; it would print the whole string, secrets included, over any other. */
const knownOptions = new Set(
  [
    "connectionName",
    "defaultDeadline",
    "discoveryInterval",
    "gossipTimeout",
    "keepAliveInterval",
    "keepAliveTimeout",
    "maxDiscoverAttempts",
    "nodePreference",
    "tls",
    "tlsCAFile",
    "userCertFile",
    "userKeyFile",
  ].map((name) => name.toLowerCase()),
);

const leastKeepAliveMs = 10_000;

/**
 * A client as the connection string says: `esdb://` with one node or several, or `esdb+discover://` with a name; TLS,
 * credentials and certificates are its own matter. Nothing is connected yet.
 * @throws {TypeError} in one line that repeats nothing of the string.
 */
export const clientFor = (url: string): EventStoreDBClient => {
  checkOptions(url);
  try {
    return EventStoreDBClient.connectionString(url);
  } catch (error) {
    // The client's own words quote the string, credentials included.
    const expected = (error as { expected?: unknown }).expected;
    if (typeof expected === "string")
      throw new TypeError(`the connection string is malformed: expected ${expected}`);
    throw new TypeError("the connection string names files or values that cannot be used");
  }
};

const checkOptions = (url: string): void => {
  if (!/^esdb(\+discover)?:\/\//.test(url))
    throw new TypeError("must begin with esdb:// or esdb+discover://");
  const [, query = "", ...more] = url.split("?");
  if (more.length > 0)
    throw new TypeError("the connection string is malformed: it has more than one question mark");
  for (const [name, value] of new URLSearchParams(query)) {
    const option = name.toLowerCase().replaceAll(/[_-]/g, "");
    if (!knownOptions.has(option))
      throw new TypeError("the connection string has an option that is not known here");
    if (option.startsWith("keepalive") && Number(value) >= 0 && Number(value) < leastKeepAliveMs) {
      throw new TypeError(`keep-alive is at least ${leastKeepAliveMs} ms, or -1`);
    }
  }
};
