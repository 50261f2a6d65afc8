import type { IncomingHttpHeaders } from "node:http";

export interface UpstreamRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** It goes on with a sound that is heard already: it comes before what has not begun, if they must wait. */
  readonly isContinuation?: boolean;
  /** Called when its turn has come, unless it goes on with something; what it throws is thrown, and nothing is asked. */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

export interface UpstreamResponse {
  /** Never a redirection: that is a failure, since it leads where nobody looked. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * Pulled at the reader's pace, to be read once: to its end, or left, which ends the connection. One that stops before
   * its end as HTTP tells it throws {UpstreamFailed}.
   */
  readonly body: AsyncIterable<Buffer>;
}

/** In milliseconds. They run only while the upstream is waited for, never while the reader of an answer rests. */
export interface UpstreamDeadlines {
  /** From the request to a connection: name, socket, TLS, and the wait for a free one. */
  readonly connectMs: number;
  /** The longest silence: until the answer's head, and between any two pieces of its body. */
  readonly firstByteMs: number;
  /** All the waiting together, from the connection to the body's end. */
  readonly totalMs: number;
}
