import { WebSocket } from "ws";

/** The close codes that the service sends (RFC 6455, section 7.4.1, and the IANA registry). */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  refused: 1008,
  restart: 1012,
} as const;

/** The reason of a close frame whose sender gives none; the `ws` library closes by itself with the codes not named above. */
const defaultReasons: Readonly<Record<number, string>> = {
  1000: "The socket was idle.",
  1001: "The service is shutting down: connect again.",
  1002: "A frame violates the WebSocket protocol.",
  1007: "A text frame is not valid UTF-8.",
  1008: "A message has too many fragments.",
  1009: "The message is too large.",
  1012: "The service is shutting down: ask again over another connection.",
};

/** A control frame has room for 125 bytes, two of which are the code (RFC 6455, section 5.5). */
const maxReasonBytes = 123;

/** The longest beginning of the text that fits into a close frame. */
export const closeReason = (text: string): string =>
  // In a stream, the decoder holds back a character whose last bytes are missing.
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxReasonBytes), { stream: true });

/** A socket whose close frames carry a reason. */
export class ExplainedWebSocket extends WebSocket {
  override close(code?: number, reason: string | Buffer = defaultReasons[code ?? 0] ?? ""): void {
    super.close(code, reason);
  }
}
