import type { IncomingMessage } from "node:http";
import type { Credentials } from "../../application/access/authentication.ts";
import { credentialsOf, originOf } from "../access/credentials.ts";

/** Where the socket is. */
export const streamPath = "/v2/text/stream";
/** As the router takes it. */
const address = /^\/v2\/text\/stream\/?(\?|$)/i;

/**
 * Whether the request opens a WebSocket here (RFC 6455, section 4.2.1). What is not quite one stays HTTP and is
 * answered as such.
 */
export const isHandshake = ({ method, url = "", headers }: IncomingMessage): boolean =>
  method === "GET" &&
  address.test(url) &&
  headers.host !== undefined &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  /^[+/0-9A-Za-z]{22}==$/.test(headers["sec-websocket-key"] ?? "");

/**
 * What a handshake presents: the headers of every request; or, where none can be set, an access token in the query,
 * which outranks the key alone.
 */
export const handshakeCredentials = (request: IncomingMessage): Credentials => {
  const presented = credentialsOf(request);
  if (presented.by !== "origin") return presented;
  const tokens = queryOf(request).getAll("token");
  if (tokens.length === 0) return presented;
  const token = tokens.length === 1 ? (tokens[0] ?? "") : "";
  return { by: "token", token, apiKey: presented.apiKey, origin: originOf(request) };
};

const queryOf = ({ url = "" }: IncomingMessage): URLSearchParams =>
  new URLSearchParams(url.slice(url.indexOf("?") + 1 || url.length));
