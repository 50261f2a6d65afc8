import { WebSocket } from "ws";

/** The close codes that the service sends (RFC 6455, section 7.4.1, and the IANA registry). */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  refused: 1008,
  restart: 1012,
} as const;

/**
 * The reasons for close frames without an explicit one, also for those that the `ws` library sends.
 */
const defaultReasons: Readonly<Record<number, string>> = {
  1000: "The socket was idle.",
  1001: "The service is shutting down: reconnect.",
  1002: "A frame violates the WebSocket protocol.",
  1007: "A text frame is not valid UTF-8.",
  1008: "A message has too many fragments.",
  1009: "The message is too large.",
  1012: "The service is shutting down: retry over a new connection.",
};

/**
 * A control frame's payload has at most 125 bytes, two of which are the code (RFC 6455, section
 * 5.5).
 */
const maxReasonBytes = 123;

/** Truncates the text to the size of a close reason, between two characters. */
export const closeReason = (text: string): string =>
  // In stream mode the decoder omits an incomplete last character.
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxReasonBytes), { stream: true });

/** A WebSocket whose close frames always carry a reason. */
export class ExplainedWebSocket extends WebSocket {
  override close(code?: number, reason: string | Buffer = defaultReasons[code ?? 0] ?? ""): void {
    super.close(code, reason);
  }
}
