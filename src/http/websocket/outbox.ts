import { WebSocket } from "ws";
import type { ServerMessage } from "./messages.ts";
import { SocketError } from "./socket-error.ts";

/** The limit of buffered data per socket. One more frame or message may exceed it. */
export const highWaterBytes = 128 * 1024;

/** Ends the syntheses of a socket whose client is gone. */
export const clientDisconnected = new SocketError("The client has left.", "CLIENT_LEFT");

interface OutboxListener {
  /** Called when data is buffered in an empty outbox. */
  onBuffered(): void;
  /**
   * Called when the network has accepted buffered data, but never synchronously by `send` or
   * `sendFrame`.
   */
  onDrained(): void;
}

export type Outbox = ReturnType<typeof createOutbox>;

/** Sends messages and frames at the pace of the client. */
export const createOutbox = (socket: WebSocket, { onBuffered, onDrained }: OutboxListener) => {
  const queue = new Set<() => void>();
  const isFull = (): boolean => socket.bufferedAmount >= highWaterBytes;
  const isEmpty = (): boolean => socket.bufferedAmount === 0;

  const onSent = (error?: Error | null): void => {
    if (error) return; // the socket has been closed
    for (const sendNext of queue) {
      if (isFull()) break;
      sendNext();
    }
    onDrained();
  };

  const sendData = (data: string | Buffer): void => {
    if (socket.readyState !== WebSocket.OPEN) return; // `ws` would count it as buffered forever
    if (isEmpty()) onBuffered();
    socket.send(data, onSent);
  };

  return {
    /**
     * Sends a small message at once. The caller must not cause further messages while the outbox is
     * full.
     */
    send: (message: ServerMessage): void => sendData(JSON.stringify(message)),
    /**
     * Builds and sends a frame when there is room for it; streams that share the socket take turns.
     * Resolves when the frame has been sent. If the signal is aborted or the client has
     * disconnected, sends nothing, and rejects with the signal's reason or with
     * {clientDisconnected}.
     */
    sendFrame: (build: () => Buffer, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const onAbort = (): void => {
          queue.delete(sendNext);
          reject(signal.reason);
        };
        const sendNext = (): void => {
          queue.delete(sendNext);
          signal.removeEventListener("abort", onAbort);
          if (socket.readyState !== WebSocket.OPEN) return void reject(clientDisconnected);
          sendData(build());
          resolve();
        };
        if (queue.size === 0 && !isFull()) return sendNext();
        signal.addEventListener("abort", onAbort, { once: true });
        queue.add(sendNext);
      }),
    /** True if at least `highWaterBytes` are buffered for the client. */
    isFull,
    /** True if all data has been handed to the network. */
    isEmpty,
  };
};
