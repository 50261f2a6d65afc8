import type { WebSocket } from "ws";

export interface Inbox {
  /** Goes on with what waits, if the reader has taken enough of what it was told. */
  process(): void;
}

interface Received {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

/** Messages of one socket that are handled before all others have their turn. */
export const messagesAtOnce = 64;

/**
 * Hands over one message after another. Nothing is read from the socket while `isFull`, so that a client that asks and
 * never listens makes nothing grow but what had arrived with the last piece read from the network.
 */
export const createInbox = (
  socket: WebSocket,
  isFull: () => boolean,
  handle: (data: Buffer, isBinary: boolean) => void,
): Inbox => {
  const waiting: Received[] = [];
  let left = messagesAtOnce;
  let isNextTurnSet = false;

  const nextTurn = (): void => {
    isNextTurnSet = false;
    left = messagesAtOnce;
    process();
  };

  const process = (): void => {
    for (; waiting.length > 0 && left > 0 && !isFull(); left--) {
      const { data, isBinary } = waiting.shift() as Received;
      handle(data, isBinary);
    }
    if (left < messagesAtOnce && !isNextTurnSet) {
      isNextTurnSet = true;
      setImmediate(nextTurn);
    }
    const isHeldBack = waiting.length > 0 || isFull();
    if (isHeldBack !== socket.isPaused) isHeldBack ? socket.pause() : socket.resume();
  };

  socket.on("message", (data, isBinary) => {
    waiting.push({ data: data as Buffer, isBinary });
    process();
  });
  return { process };
};
