import type { IncomingHttpHeaders } from "node:http";

export interface UpstreamRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Continues a sound that is being delivered: goes before new work in the queue. */
  readonly isContinuation?: boolean;
  /** Called when the request has its slot, unless it is a continuation. If it throws, nothing is sent. */
  readonly beforeStart?: (() => Promise<void>) | undefined;
}

export interface UpstreamResponse {
  /** Never a redirect, which fails: its target is not checked. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /**
   * At the reader's pace; can be read once. Leaving it closes the connection. Throws {UpstreamFailed} if it is
   * incomplete.
   */
  readonly body: AsyncIterable<Buffer>;
}

/** In milliseconds. They run while the provider is waited for, never while a reader is idle. */
export interface UpstreamDeadlines {
  /** Until a connection is open: DNS, TCP, TLS, and waiting for a free one. */
  readonly connectMs: number;
  /** Until the response headers, and between any two chunks of the body. */
  readonly firstByteMs: number;
  /** Total waiting time from the connection to the end of the body. */
  readonly totalMs: number;
}
