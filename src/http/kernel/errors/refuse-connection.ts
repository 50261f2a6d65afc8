import type { Duplex } from "node:stream";
import { nodeHttp } from "../../../node-http.ts";
import { type PresentedError, presentError } from "./error-codes.ts";

/** The time that the client may take to read the response and close the connection. */
const lingerMs = 5_000;

/**
 * Sends an error on a connection that Node's HTTP server no longer manages, and closes it.
 * `headers`: they have the request's id. Further data from the client is read and discarded,
 * because a reset could discard the response before the client has read it.
 */
export const refuseConnection = (
  connection: Duplex,
  error: unknown,
  headers: Readonly<Record<string, string>>,
): PresentedError => {
  const presented = presentError(error);
  connection.on("error", () => connection.destroy());
  connection.end(serialize({ ...presented, headers: { ...headers, ...presented.headers } }));
  connection.resume();
  const timeout = setTimeout(() => connection.destroy(), lingerMs).unref();
  connection.once("close", () => clearTimeout(timeout));
  return presented;
};

const serialize = ({ status, headers, body }: PresentedError): string => {
  const json = JSON.stringify(body);
  const head = {
    ...headers,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(json),
    Connection: "close",
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status]}\r\n${lines.join("")}\r\n${json}`;
};
