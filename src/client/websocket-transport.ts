import { openWhole } from "./chunk-transport.ts";
import type { SocketConstructor } from "./dom.ts";
import { VoxledgerError } from "./errors.ts";
import { type OpenSound, oneAhead } from "./one-ahead.ts";
import { type Patience, retrying } from "./retry.ts";
import type { Service } from "./service.ts";
import type { Session } from "./session.ts";
import { openSpeechSocket, type SpeechSocket } from "./speech-socket.ts";
import { aborted } from "./time-limit.ts";
import { synthesisQuery, type Transport } from "./transport.ts";
import { wholeUnlessStreamed } from "./whole-unless-streamed.ts";

export interface SocketOptions {
  readonly service: Pick<Service, "synthesize">;
  readonly session: Pick<Session, "query" | "replace">;
  readonly baseUrl: string;
  readonly timeout: number;
  readonly patience: Patience;
  readonly WebSocket: SocketConstructor | undefined;
  /** Raised when the library is closed. */
  readonly closed: AbortSignal;
}

/** Plays each part while it is still being made, over one connection for all of them. */
export const websocketTransport = (options: SocketOptions): Transport =>
  oneAhead(wholeUnlessStreamed(openOverSocket(options), openWhole(options.service)));

/** An open connection may keep a page out of the browser's back/forward cache. The next speech makes another one. */
const idleMs = 60_000;

const openOverSocket = ({ session, patience, ...options }: SocketOptions): OpenSound => {
  const line = keptLine(options);

  const attempt: OpenSound = async (part, wanted, signal) => {
    const query = synthesisQuery(part, wanted);
    const proof = await session.query();
    try {
      return await line(proof).synthesize(query, signal);
    } catch (error) {
      const refused = error instanceof VoxledgerError && error.code === "UNAUTHORIZED" && "token" in proof;
      if (!refused || !(await session.replace(proof.token))) throw error;
      return await line(await session.query()).synthesize(query, signal);
    }
  };

  return (part, wanted, signal) => retrying(() => attempt(part, wanted, signal), patience, signal);
};

/** The connection as long as it holds, or else another one, by that proof. */
const keptLine = ({
  WebSocket,
  baseUrl,
  timeout,
  closed,
}: Omit<SocketOptions, "session" | "patience">): ((proof: Record<string, string>) => SpeechSocket) => {
  let current: SpeechSocket | undefined;
  closed.addEventListener("abort", () => current?.close(), { once: true });

  return (proof) => {
    if (!WebSocket) throw new VoxledgerError("There is no WebSocket here.", { code: "NOT_SUPPORTED" });
    if (closed.aborted) throw aborted(closed.reason);
    if (current) return current;
    const url = `${baseUrl.replace(/^http/, "ws")}v2/text/stream?${new URLSearchParams(proof)}`;
    const opened = openSpeechSocket({
      WebSocket,
      url,
      timeout,
      idleMs,
      onClosed: () => {
        if (current === opened) current = undefined;
      },
    });
    current = opened;
    return opened;
  };
};
