import type { WebSocket } from "ws";

/**
 * Handles the messages of a socket in order. Pauses the socket while `isFull`, so that a client that sends requests and
 * never reads fills no buffer but its own. The queue holds at most what was parsed from the last read of the network.
 * Returns a function that handles the queued messages, to be called when the outbox has drained.
 */
export const createInbox = (
  socket: WebSocket,
  isFull: () => boolean,
  handle: (data: Buffer, isBinary: boolean) => void,
): (() => void) => {
  const queue: { readonly data: Buffer; readonly isBinary: boolean }[] = [];

  const process = (): void => {
    while (!isFull()) {
      const message = queue.shift();
      if (!message) break;
      handle(message.data, message.isBinary);
    }
    const mustPause = queue.length > 0 || isFull();
    if (mustPause !== socket.isPaused) mustPause ? socket.pause() : socket.resume();
  };

  socket.on("message", (data, isBinary) => {
    queue.push({ data: data as Buffer, isBinary });
    process();
  });
  return process;
};
