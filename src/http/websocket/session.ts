import type { Logger } from "pino";
import { WebSocket } from "ws";
import type { Principal } from "../../application/access/principal.ts";
import { KeyIsSuspended, Unauthorized, Unavailable } from "../../domain/errors.ts";
import { closeCodes, closeReason } from "./close.ts";
import { createInbox } from "./inbox.ts";
import { createLiveness, type SocketTimeouts } from "./liveness.ts";
import { type ClientMessage, readMessage } from "./messages.ts";
import { clientDisconnected, createOutbox } from "./outbox.ts";
import { isServerFault, toErrorMessage } from "./socket-error.ts";
import { createSyntheses, type SynthesisServices } from "./syntheses.ts";

/** One client's socket, from its handshake to its close. */
export interface Session {
  /** Looks whether the socket is still of use, and lets its peer know that we are there. To be called now and then. */
  checkLiveness(): void;
  /** Begins nothing more, and closes the socket when what is under way has ended and been taken. */
  drain(): void;
  /** Ends what is under way at once, each told as to be asked for again, and closes the socket. */
  abort(): void;
  /** Destroys the socket. */
  terminate(): void;
  /** Resolves when the socket is closed and what it began is accounted for. */
  readonly ended: Promise<void>;
}

export interface SessionOptions {
  readonly socket: WebSocket;
  /** The caller as it stands now, for one more request. @throws {Unauthorized} {RateLimited} {KeyIsSuspended} */
  readonly admit: () => Principal;
  readonly speaking: SynthesisServices;
  readonly streamsAtMost: number;
  readonly patience: SocketTimeouts;
  readonly log: Logger;
  readonly now?: () => number;
}

export const openSession = (options: SessionOptions): Session => {
  const { socket, admit, speaking, streamsAtMost, patience, log, now = () => performance.now() } = options;
  const began = now();
  const closed = Promise.withResolvers<void>();
  const liveness = createLiveness(patience, now);
  let draining = false;
  let closing: { readonly code: number; readonly reason?: string } | undefined;
  let pingedAt = began;

  const outbox = createOutbox(socket, {
    onWaiting: liveness.dataDrained,
    onTaken: () => {
      liveness.dataDrained();
      inbox.process();
      closeWhenDone();
    },
  });

  const admitMore = (): Principal => {
    if (draining) throw shuttingDown;
    try {
      return admit();
    } catch (error) {
      if (error instanceof Unauthorized || error instanceof KeyIsSuspended)
        close(closeCodes.refused, closeReason(error.message));
      throw error;
    }
  };

  const syntheses = createSyntheses({
    speaking,
    atMost: streamsAtMost,
    admit: admitMore,
    onEnd: () => closeWhenDone(),
    outbox,
    log,
  });

  const obey = (message: ClientMessage): void => {
    if (message.type === "synthesize") syntheses.start(message.id, message.request);
    else if (message.type === "cancel") syntheses.cancel(message.id);
    else outbox.send({ type: "pong" });
  };

  const inbox = createInbox(socket, outbox.isFull, (data, isBinary) => {
    if (socket.readyState !== WebSocket.OPEN) return; // whatever it asks, it could not be told
    liveness.messageReceived();
    try {
      obey(readMessage(data, isBinary));
    } catch (error) {
      if (isServerFault(error)) log.error({ err: error }, "failed");
      outbox.send(toErrorMessage(error));
    }
  });

  /** Closes the socket once the syntheses under way have ended and the client has read them. */
  const close = (code: number, reason?: string): void => {
    closing ??= { code, ...(reason !== undefined && { reason }) };
    queueMicrotask(closeWhenDone); // after the caller has sent the error that explains it
  };
  const closeWhenDone = (): void => {
    if (closing === undefined || syntheses.count > 0 || !outbox.isEmpty()) return;
    socket.resume(); // a paused socket would never read the answer
    socket.close(closing.code, closing.reason);
  };

  /** One for each third of the time that a silent peer is given. */
  const ping = (): void => {
    if (now() - pingedAt < patience.stallMs / 3) return;
    pingedAt = now();
    socket.ping();
  };

  for (const sign of ["message", "ping", "pong"]) socket.on(sign, liveness.activityReceived);
  socket.on("error", (error) => {
    log.info({ code: codeOf(error) }, "socket failed");
    syntheses.abortAll(clientDisconnected);
  });
  socket.on("close", (code) => {
    syntheses.abortAll(clientDisconnected);
    log.info({ code, ms: Math.round(now() - began) }, "socket");
    closed.resolve();
  });

  return {
    checkLiveness: () => {
      const verdict = liveness.state({ speaking: syntheses.count > 0, sending: !outbox.isEmpty() });
      if (verdict === "idle") close(closeCodes.normal);
      if (verdict === "alive" && outbox.isEmpty()) ping();
      if (verdict !== "stalled" && verdict !== "gone") return;
      log.info({ verdict }, "socket ended");
      socket.terminate();
    },
    drain: () => {
      draining = true;
      close(closeCodes.goingAway);
    },
    abort: () => {
      draining = true;
      closing = { code: closeCodes.restart };
      syntheses.abortAll(shuttingDown);
      closeWhenDone();
    },
    terminate: () => socket.terminate(),
    ended: closed.promise.then(() => syntheses.settled()),
  };
};

/** Refuses what arrives, and ends what is under way, while the service shuts down. */
export const shuttingDown = new Unavailable("The service is shutting down: connect again.", 1);

/** The code alone: what goes wrong with a socket is the peer's doing, and its stack tells nothing. */
const codeOf = (error: Error): unknown => ("code" in error ? error.code : undefined);
