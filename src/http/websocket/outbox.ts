import { WebSocket } from "ws";
import type { ServerMessage } from "./messages.ts";
import { SocketError } from "./socket-error.ts";

/** The way out to one reader, at its pace. */
export interface Outbox {
  /** Small, and sent at once: whoever causes it must not go on while the outbox is full. */
  send(message: ServerMessage): void;
  /**
   * Sends a frame, made when there is room for it; those that share the socket take turns. Resolves when it is on its
   * way. Nothing leaves once the signal is aborted: rejects with its reason; or with {left}.
   */
  sendFrame(make: () => Buffer, signal: AbortSignal): Promise<void>;
  /** More waits for the reader than should. */
  isFull(): boolean;
  /** Everything has been handed to the network. */
  isEmpty(): boolean;
}

/** What waits in memory for a reader, at most, and one frame or message more. */
export const highWaterBytes = 128 * 1024;

/** What ends a synthesis that nobody is there for. */
export const clientDisconnected = new SocketError("The client has left.", "CLIENT_LEFT", {
  retryable: false,
});

/** What is to be known of a way out, as it goes. */
export interface OutboxListener {
  /** Something begins to wait for the network. */
  onWaiting(): void;
  /** The network has taken something of what waited; never from within a sending. */
  onTaken(): void;
}

export const createOutbox = (socket: WebSocket, { onWaiting, onTaken }: OutboxListener): Outbox => {
  const queue = new Set<() => void>();
  const isFull = (): boolean => socket.bufferedAmount >= highWaterBytes;
  const isEmpty = (): boolean => socket.bufferedAmount === 0;

  const taken = (error?: Error | null): void => {
    if (error) return; // the socket has closed, and with it all that waits
    for (const sendNext of queue) {
      if (isFull()) break;
      sendNext();
    }
    onTaken();
  };

  const send = (data: string | Buffer): void => {
    if (socket.readyState !== WebSocket.OPEN) return; // what can go nowhere would count as waiting for ever
    if (isEmpty()) onWaiting();
    socket.send(data, taken);
  };

  return {
    send: (message) => send(JSON.stringify(message)),
    sendFrame: (make, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const leave = (): void => {
          queue.delete(sendNext);
          reject(signal.reason);
        };
        const sendNext = (): void => {
          queue.delete(sendNext);
          signal.removeEventListener("abort", leave);
          if (socket.readyState !== WebSocket.OPEN) return void reject(clientDisconnected);
          send(make());
          resolve();
        };
        if (queue.size === 0 && !isFull()) return sendNext();
        signal.addEventListener("abort", leave, { once: true });
        queue.add(sendNext);
      }),
    isFull,
    isEmpty,
  };
};
