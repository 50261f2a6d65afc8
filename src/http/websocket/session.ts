import type { Logger } from "pino";
import { WebSocket } from "ws";
import type { Principal } from "../../application/access/principal.ts";
import type { Clock } from "../../async/clock.ts";
import { KeyIsSuspended, Unauthorized, Unavailable } from "../../domain/errors.ts";
import { closeCodes, closeReason } from "./close.ts";
import { createInbox } from "./inbox.ts";
import { createLiveness, type SocketTimeouts } from "./liveness.ts";
import { type ClientMessage, parseMessage } from "./messages.ts";
import { clientDisconnected, createOutbox } from "./outbox.ts";
import { isServerFault, toErrorMessage } from "./socket-error.ts";
import { createSyntheses, type SynthesisServices } from "./syntheses.ts";

/** A socket, from its handshake to its close. */
export interface Session {
  /** Closes an idle socket, terminates a stalled one, and sends pings. To be called periodically. */
  checkLiveness(): void;
  /** Refuses new syntheses, and closes the socket when those in progress have ended and the client has read them. */
  drain(): void;
  /** Ends the syntheses in progress with a retryable error, and closes the socket. */
  abort(): void;
  /** Destroys the socket. */
  terminate(): void;
  /** Resolves when the socket is closed and its syntheses have been recorded. */
  readonly ended: Promise<void>;
}

export interface SessionOptions {
  readonly socket: WebSocket;
  /** The caller with its current permissions, for one more request. @throws {Unauthorized} {RateLimited} {KeyIsSuspended} */
  readonly admit: () => Principal;
  readonly services: SynthesisServices;
  readonly maxStreams: number;
  readonly timeouts: SocketTimeouts;
  readonly log: Logger;
  readonly clock: Clock;
}

export const openSession = (options: SessionOptions): Session => {
  const { socket, admit, services, maxStreams, timeouts, log, clock } = options;
  const openedAt = clock.now();
  const closed = Promise.withResolvers<void>();
  const liveness = createLiveness(timeouts, clock.now);
  let isDraining = false;
  let closing: { readonly code: number; readonly reason?: string } | undefined;
  let pingedAt = openedAt;

  const outbox = createOutbox(socket, {
    onBuffered: liveness.dataDrained,
    onDrained: () => {
      liveness.dataDrained();
      processInbox();
      closeWhenDone();
    },
  });

  const admitSynthesis = (): Principal => {
    if (isDraining) throw shuttingDown;
    try {
      return admit();
    } catch (error) {
      if (error instanceof Unauthorized || error instanceof KeyIsSuspended)
        close(closeCodes.refused, closeReason(error.message));
      throw error;
    }
  };

  const syntheses = createSyntheses({
    ...{ services, maxStreams, outbox, log },
    admit: admitSynthesis,
    onEnd: () => closeWhenDone(),
  });

  const handle = (message: ClientMessage): void => {
    if (message.type === "synthesize") syntheses.start(message.id, message.request);
    else if (message.type === "cancel") syntheses.cancel(message.id);
    else outbox.send({ type: "pong" });
  };

  const processInbox = createInbox(socket, outbox.isFull, (data, isBinary) => {
    if (socket.readyState !== WebSocket.OPEN) return; // no answer could be sent
    liveness.messageReceived();
    try {
      handle(parseMessage(data, isBinary));
    } catch (error) {
      if (isServerFault(error)) log.error({ err: error }, "failed");
      outbox.send(toErrorMessage(error));
    }
  });

  /** Closes the socket once the syntheses in progress have ended and the client has read them. */
  const close = (code: number, reason?: string): void => {
    closing ??= { code, ...(reason !== undefined && { reason }) };
    queueMicrotask(closeWhenDone); // after the caller has sent the error that explains it
  };
  const closeWhenDone = (): void => {
    if (closing === undefined || syntheses.count > 0 || !outbox.isEmpty()) return;
    socket.resume(); // a paused socket would never receive the client's close frame
    socket.close(closing.code, closing.reason);
  };

  /** Three pings fit into the stall timeout. */
  const pingIfDue = (): void => {
    if (clock.now() - pingedAt < timeouts.stallMs / 3) return;
    pingedAt = clock.now();
    socket.ping();
  };

  for (const event of ["message", "ping", "pong"]) socket.on(event, liveness.activityReceived);
  socket.on("error", (error) => {
    // The code alone: the client causes socket errors, and their stacks are of no use.
    log.info({ code: "code" in error ? error.code : undefined }, "socket failed");
    syntheses.abortAll(clientDisconnected);
  });
  socket.on("close", (code) => {
    syntheses.abortAll(clientDisconnected);
    log.info({ code, ms: Math.round(clock.now() - openedAt) }, "socket");
    closed.resolve();
  });

  return {
    checkLiveness: () => {
      const state = liveness.state({ synthesizing: syntheses.count > 0, sending: !outbox.isEmpty() });
      if (state === "idle") close(closeCodes.normal);
      if (state === "alive" && outbox.isEmpty()) pingIfDue();
      if (state !== "stalled" && state !== "gone") return;
      log.info({ verdict: state }, "socket ended");
      socket.terminate();
    },
    drain: () => {
      isDraining = true;
      close(closeCodes.goingAway);
    },
    abort: () => {
      isDraining = true;
      closing = { code: closeCodes.restart };
      syntheses.abortAll(shuttingDown);
      closeWhenDone();
    },
    terminate: () => socket.terminate(),
    ended: closed.promise.then(() => syntheses.settled()),
  };
};

export const shuttingDown = new Unavailable("The service is shutting down: reconnect and retry.", 1);
