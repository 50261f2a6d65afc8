import { type RetryOptions, retryDelayMs, withRetry } from "../api/retry.ts";
import type { Session } from "../api/session.ts";
import type { SocketConstructor, StartTimer } from "../dom.ts";
import { abortError, asVoxledgerError, VoxledgerError } from "../errors.ts";
import { HandshakeFailed, SpeechSocket } from "./speech-socket.ts";
import { synthesisQuery, type Transport } from "./transport.ts";

export interface WebSocketOptions {
  readonly session: Pick<Session, "socketQuery" | "replaceTokenAfter" | "refresh">;
  readonly baseUrl: string;
  /** The timeout in milliseconds. */
  readonly timeout: number;
  readonly retry: RetryOptions;
  readonly now: () => number;
  readonly startTimer: StartTimer;
  readonly WebSocket: SocketConstructor | undefined;
  /** Aborted when the library is closed. */
  readonly closed: AbortSignal;
}

/**
 * An open WebSocket may keep a page out of the browser's back/forward cache, so an idle one is
 * closed.
 */
const idleMs = 60_000;

/** Streams the parts of all speeches over one connection, which is opened when it is needed. */
export const webSocketTransport = ({ session, retry, now, ...options }: WebSocketOptions): Transport => {
  const backoff = createConnectionBackoff({ now, random: retry.random });
  const connect = createConnector(options, backoff);

  /**
   * Browsers hide the response that refuses a handshake. A token request is refused for the same
   * reasons, and its response can be read. If it succeeds, the old token may have been the reason,
   * and has been replaced.
   */
  const findRefusalReason = async (): Promise<void> => {
    try {
      await session.refresh();
    } catch (error) {
      const reason = asVoxledgerError(error);
      backoff.recordFailure(reason);
      throw reason;
    }
  };

  return (part, voice, signal) => {
    const query = synthesisQuery(part, voice);
    let hasReplacedToken = false;

    const attempt = async (isSecondHandshake = false): ReturnType<Transport> => {
      const credentials = await session.socketQuery();
      try {
        return await connect(credentials).synthesize(query, signal);
      } catch (error) {
        const isRefused = error instanceof HandshakeFailed;
        if (isRefused && !isSecondHandshake) await findRefusalReason();
        const mayReplace = !hasReplacedToken && "token" in credentials;
        if (!mayReplace || !(isRefused || (await session.replaceTokenAfter(error, credentials.token)))) {
          if (isRefused) backoff.assertAllowed(); // throws the same error with the remaining delay
          throw error;
        }
        hasReplacedToken = true;
        return await attempt(true);
      }
    };

    return withRetry(
      async () => {
        backoff.assertAllowed();
        return await attempt();
      },
      { ...retry, maxDelayMs: voice.maxWaitMs },
      signal,
    );
  };
};

/** Returns a function that returns the open connection, or opens one with that query. */
const createConnector = (
  { WebSocket, baseUrl, closed, ...options }: Omit<WebSocketOptions, "session" | "retry" | "now">,
  backoff: ConnectionBackoff,
): ((query: Record<string, string>) => SpeechSocket) => {
  let current: SpeechSocket | undefined;
  closed.addEventListener("abort", () => current?.close(), { once: true });

  return (query) => {
    if (!WebSocket) throw new VoxledgerError("This environment has no WebSocket.", { code: "NOT_SUPPORTED" });
    if (closed.aborted) throw abortError(closed.reason);
    if (current) return current;
    const opened = new SpeechSocket({
      ...options,
      WebSocket,
      url: `${baseUrl.replace(/^http/, "ws")}v2/text/stream?${new URLSearchParams(query)}`,
      idleMs,
      onMessage: backoff.recordSuccess,
      onClosed: (failure) => {
        if (current === opened) current = undefined;
        if (failure) backoff.recordFailure(failure);
      },
    });
    current = opened;
    return opened;
  };
};

type ConnectionBackoff = ReturnType<typeof createConnectionBackoff>;

/**
 * Limits connection attempts across all speeches of a page. After a failure, no attempt is allowed
 * until its `Retry-After`, or else an exponentially growing delay, has passed.
 */
const createConnectionBackoff = ({ now, random }: { now: () => number; random: () => number }) => {
  let failures = 0;
  let last: { readonly failure: VoxledgerError; readonly at: number; readonly delayMs: number } | undefined;

  return {
    /**
     * @throws {VoxledgerError} which is the last failure, with the remaining delay as
     * `retryAfterSeconds`
     */
    assertAllowed: (): void => {
      if (!last) return;
      const elapsedMs = now() - last.at;
      const remainingMs = last.delayMs - elapsedMs;
      if (remainingMs <= 0 || elapsedMs < 0) return; // negative: the clock was set back
      const { failure } = last;
      const retryAfterSeconds = remainingMs / 1_000;
      throw new VoxledgerError(failure.message, { ...failure, retryAfterSeconds, cause: failure });
    },
    recordFailure: (failure: VoxledgerError): void => {
      last = { failure, at: now(), delayMs: retryDelayMs(failure, failures, random) };
      failures += 1;
    },
    recordSuccess: (): void => {
      failures = 0;
      last = undefined;
    },
  };
};
