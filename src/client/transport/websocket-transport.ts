import { type RetryOptions, withRetry } from "../api/retry.ts";
import type { ServiceApi } from "../api/service-api.ts";
import type { Session } from "../api/session.ts";
import type { SocketConstructor } from "../dom.ts";
import { asVoxledgerError, VoxledgerError } from "../errors.ts";
import { downloadAudio } from "./chunk-transport.ts";
import { type ConnectionBackoff, createConnectionBackoff } from "./connection-backoff.ts";
import { type OpenAudio, prefetching } from "./prefetch.ts";
import { HandshakeFailed, openSpeechSocket, type SpeechSocket } from "./speech-socket.ts";
import { abortError } from "./time-limit.ts";
import { synthesisQuery, type Transport } from "./transport.ts";
import { withDownloadFallback } from "./whole-unless-streamed.ts";

export interface SocketOptions {
  readonly service: Pick<ServiceApi, "synthesize">;
  readonly session: Pick<Session, "socketQuery" | "replaceTokenAfter" | "refresh">;
  readonly baseUrl: string;
  readonly timeout: number;
  readonly patience: RetryOptions;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly WebSocket: SocketConstructor | undefined;
  /** Aborted when the library is closed. */
  readonly closed: AbortSignal;
}

/** Plays each part while it is still being made, over one connection for all of them. */
export const websocketTransport = (options: SocketOptions): Transport =>
  prefetching(withDownloadFallback(openOverSocket(options), downloadAudio(options.service)));

/** An open connection may keep a page out of the browser's back/forward cache. The next speech makes another one. */
const idleMs = 60_000;

const openOverSocket = ({ session, patience, now, ...options }: SocketOptions): OpenAudio => {
  const backoff = createConnectionBackoff({ now, random: patience.random });
  const connected = keptConnection(options, backoff);

  /**
   * A page is not shown why its handshake was refused. Asking for a token, which the same rules refuse, shows it; and if
   * it was the token, there is another one now.
   */
  const learnWhy = async (): Promise<void> => {
    try {
      await session.refresh();
    } catch (error) {
      const why = asVoxledgerError(error);
      backoff.failed(why);
      throw why;
    }
  };

  return (part, wanted, signal) => {
    const request = synthesisQuery(part, wanted);
    let hasReplacedToken = false;

    const attempt = async (isSecondTry = false): ReturnType<OpenAudio> => {
      const proof = await session.socketQuery();
      try {
        return await connected(proof).synthesize(request, signal);
      } catch (error) {
        const isRefused = error instanceof HandshakeFailed;
        if (isRefused && !isSecondTry) await learnWhy();
        const mayReplace = !hasReplacedToken && "token" in proof;
        if (!mayReplace || !(isRefused || (await session.replaceTokenAfter(error, proof.token)))) {
          if (isRefused) backoff.assertAllowed(); // throws the same error, with the time to wait
          throw error;
        }
        hasReplacedToken = true;
        return await attempt(true);
      }
    };

    const attemptInTurn = async (): ReturnType<OpenAudio> => {
      backoff.assertAllowed();
      return await attempt();
    };
    return withRetry(attemptInTurn, patience, signal);
  };
};

/** The connection while it lasts, or else another one, opened with that query. */
const keptConnection = (
  { WebSocket, baseUrl, timeout, closed }: Omit<SocketOptions, "session" | "patience" | "now">,
  backoff: ConnectionBackoff,
): ((query: Record<string, string>) => SpeechSocket) => {
  let current: SpeechSocket | undefined;
  closed.addEventListener("abort", () => current?.close(), { once: true });

  return (query) => {
    if (!WebSocket) throw new VoxledgerError("There is no WebSocket here.", { code: "NOT_SUPPORTED" });
    if (closed.aborted) throw abortError(closed.reason);
    if (current) return current;
    const url = `${baseUrl.replace(/^http/, "ws")}v2/text/stream?${new URLSearchParams(query)}`;
    const opened = openSpeechSocket({
      WebSocket,
      url,
      timeout,
      idleMs,
      onServed: backoff.succeeded,
      onClosed: (failure) => {
        if (current === opened) current = undefined;
        if (failure) backoff.failed(failure);
      },
    });
    current = opened;
    return opened;
  };
};
