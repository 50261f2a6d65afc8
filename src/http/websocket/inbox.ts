import type { WebSocket } from "ws";

/**
 * Handles the messages of a socket in order, and queued ones in separate turns of the event loop.
 * Pauses the socket while `isFull`, so that a client that sends requests and never reads fills only
 * its own buffer. The queue holds at most what was parsed from the last read of the network.
 * Returns a function that resumes the socket. Call it when the outbox has drained.
 */
export const createInbox = (
  socket: WebSocket,
  isFull: () => boolean,
  handle: (data: Buffer, isBinary: boolean) => void,
): (() => void) => {
  const queue: { readonly data: Buffer; readonly isBinary: boolean }[] = [];
  let isScheduled = false;

  const processLater = (): void => {
    if (isScheduled || (queue.length === 0 && !socket.isPaused)) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      process();
    });
  };

  const process = (): void => {
    const message = isFull() ? undefined : queue.shift();
    if (message) handle(message.data, message.isBinary);
    if (queue.length > 0 && !isFull()) processLater();
    const mustPause = queue.length > 0 || isFull();
    if (mustPause !== socket.isPaused) mustPause ? socket.pause() : socket.resume();
  };

  socket.on("message", (data, isBinary) => {
    queue.push({ data: data as Buffer, isBinary });
    process();
  });
  return processLater;
};
