import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Resets the connection of an unfinished response that is close-delimited (RFC 9112, section 6.3):
 * the end of the connection is the end of its body, so a plain close would make truncated content
 * look complete. Returns false for any other response. A response whose Content-Length was passed
 * only to `writeHead` is reset too, although its client would notice the missing bytes anyway.
 */
export const resetCloseDelimited = (res: ServerResponse): boolean => {
  if (!isCloseDelimited(res) || res.writableFinished) return false;
  res.socket?.resetAndDestroy();
  return true;
};

const isCloseDelimited = (res: ServerResponse): boolean =>
  isBefore11(res) && !res.chunkedEncoding && !res.hasHeader("Content-Length");

/**
 * HTTP/1.0 is nginx's default for upstreams. In HTTP/1.1 Node sends each response with a length or
 * in chunks.
 */
const isBefore11 = ({ req }: ServerResponse): boolean => req.httpVersion !== "1.1";

/**
 * Handles the server's inactivity timeout: closes the connection only if its response has begun.
 * Without a handler, Node would also close it while the client waits for the response to begin. The
 * work for a response has its own deadlines.
 */
export function closeIfBegun(this: ServerResponse, socket: Socket): void {
  if (this.headersSent && !socket.destroyed && !resetCloseDelimited(this)) socket.destroy();
}

/** The open responses that may be close-delimited. */
export const createCloseDelimitedResponses = () => {
  const open = new Set<ServerResponse>();
  return {
    /** Call it before the headers of the response are set. */
    follow: (res: ServerResponse): void => {
      if (!isBefore11(res)) return;
      open.add(res);
      res.once("close", () => open.delete(res));
      res.on("timeout", closeIfBegun);
    },
    resetAll: (): void => {
      for (const res of open) resetCloseDelimited(res);
    },
  };
};
