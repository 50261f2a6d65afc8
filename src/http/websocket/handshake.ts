import type { IncomingMessage } from "node:http";
import type { Credentials } from "../../application/access/authentication.ts";
import { type CredentialReader, originOf } from "../access/credentials.ts";

export const streamPath = "/v2/text/stream";
/** Matches the same URLs as the router. */
const streamUrl = /^\/v2\/text\/stream\/?(\?|$)/i;

/**
 * True if the request is a valid WebSocket handshake for the stream path (RFC 6455, section 4.2.1).
 */
export const isHandshake = ({ method, url = "", headers }: IncomingMessage): boolean =>
  method === "GET" &&
  streamUrl.test(url) &&
  headers.host !== undefined &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  headers["sec-websocket-version"] === "13" &&
  /^[+/0-9A-Za-z]{22}==$/.test(headers["sec-websocket-key"] ?? "");

/**
 * The credentials of a handshake: those of the headers, or else an access token in the query, which
 * takes precedence over the key in the query. Browsers cannot set the headers of a handshake.
 */
export const handshakeCredentials = (
  request: IncomingMessage,
  { read }: Pick<CredentialReader, "read">,
): Credentials => {
  const credentials = read(request);
  if (credentials.by !== "origin") return credentials;
  const { url = "" } = request;
  const tokens = new URLSearchParams(url.slice(url.indexOf("?") + 1 || url.length)).getAll("token");
  if (tokens.length === 0) return credentials;
  const token = tokens.length === 1 ? (tokens[0] ?? "") : "";
  return { by: "token", token, apiKey: credentials.apiKey, origin: originOf(request) };
};
