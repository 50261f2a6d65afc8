import { ask, type ReceivedResponse } from "../../support/in-process-service.ts";

/** The headers of a valid handshake (RFC 6455, section 4.1). */
export const handshakeHeaders = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/**
 * Sends a handshake that will be refused. Resolves with the HTTP response; never if a socket opens.
 */
export const requestHandshake = (
  url: string,
  headers: Record<string, string> = {},
): Promise<ReceivedResponse> =>
  ask(url.replace(/^ws/, "http"), { headers: { ...handshakeHeaders, ...headers } });
