import type { SocketConstructor } from "../dom.ts";
import type { StartTimer } from "../environment.ts";
import { abortError, networkError, VoxledgerError } from "../errors.ts";
import { type ClientMessage, parseMessage, randomId } from "./socket-messages.ts";
import { createSocketStream, type SocketStream } from "./socket-stream.ts";
import type { OpenedAudio, SynthesisQuery } from "./transport.ts";

/** A WebSocket that carries several syntheses at once. */
export interface SpeechSocket {
  /** Resolves with the first chunk. Aborting the signal also ends a running stream. @throws {VoxledgerError} */
  synthesize(request: SynthesisQuery, signal: AbortSignal): Promise<OpenedAudio>;
  /** Closes the connection and ends all syntheses. */
  close(): void;
}

/** The WebSocket never opened. Browsers hide the reason, which may be any HTTP error, from the page. */
export class HandshakeFailed extends VoxledgerError {
  constructor() {
    super(
      "The WebSocket could not be opened: the service or a proxy refuses it, or the key has too many sockets open.",
      { code: "NETWORK" },
    );
  }
}

const connectionLost = (reason: string): VoxledgerError =>
  reason === ""
    ? networkError()
    : new VoxledgerError(`The service closed the connection: ${reason}`, { code: "NETWORK" });

/** `WebSocket.OPEN` */
const open = 1;

/** Starts to connect. Requests are sent when the connection is open. */
export const openSpeechSocket = ({
  WebSocket,
  url,
  timeout,
  idleMs,
  startTimer,
  onMessage,
  onClosed,
}: {
  WebSocket: SocketConstructor;
  url: string;
  /** Milliseconds without a message after which a synthesis fails. */
  timeout: number;
  /** Milliseconds after the last synthesis until the connection is closed. */
  idleMs: number;
  startTimer: StartTimer;
  /** Called for each message: only a message proves that the connection works. */
  onMessage: () => void;
  /** Called once, when the connection can no longer be used; with an error if no message was ever received. */
  onClosed: (failure?: VoxledgerError) => void;
}): SpeechSocket => {
  const socket = new WebSocket(url);
  socket.binaryType = "arraybuffer";
  const streams = new Map<string, SocketStream & { readonly request: SynthesisQuery }>();
  let stopIdleTimer = (): void => {};
  let hasOpened = false;
  let hasReceived = false;
  let isClosed = false;

  const markClosed = (failure?: VoxledgerError): void => {
    if (isClosed) return;
    isClosed = true;
    stopIdleTimer();
    onClosed(failure);
  };
  const close = (): void => {
    markClosed();
    socket.close();
  };
  const send = (message: ClientMessage): void => {
    if (socket.readyState === open) socket.send(JSON.stringify(message));
  };
  const remove = (id: string): void => {
    streams.delete(id);
    if (streams.size === 0 && !isClosed) stopIdleTimer = startTimer(idleMs, close);
  };

  socket.addEventListener("open", () => {
    hasOpened = true;
    for (const [id, { request }] of streams) send({ type: "synthesize", id, request });
  });
  socket.addEventListener("message", ({ data }) => {
    const message = parseMessage(data);
    hasReceived = true;
    onMessage();
    if (message?.id !== undefined) streams.get(message.id)?.receive(message);
  });
  socket.addEventListener("close", ({ reason }) => {
    const failure = hasOpened ? connectionLost(reason) : new HandshakeFailed();
    markClosed(hasReceived ? undefined : failure);
    for (const stream of streams.values()) stream.fail(failure);
  });

  return {
    synthesize: async (request, signal) => {
      if (signal.aborted) throw abortError(signal.reason);
      const id = randomId();
      stopIdleTimer();
      const stream = createSocketStream({
        timeout,
        startTimer,
        onFinished: (outcome) => {
          signal.removeEventListener("abort", cancel);
          remove(id);
          if (outcome === "timed-out") close(); // a dead connection fires no close event
          if (outcome === "cancelled") send({ type: "cancel", id });
        },
      });
      const cancel = (): void => stream.fail(abortError(signal.reason));
      streams.set(id, { ...stream, request });
      signal.addEventListener("abort", cancel);
      send({ type: "synthesize", id, request });
      return await stream.opened;
    },
    close,
  };
};
