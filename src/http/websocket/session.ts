import type { Logger } from "pino";
import { WebSocket } from "ws";
import type { Principal } from "../../application/access/principal.ts";
import type { Time } from "../../async/time.ts";
import { KeyIsSuspended, Unauthorized, Unavailable } from "../../domain/errors.ts";
import { closeCodes, closeReason } from "./close.ts";
import { createInbox } from "./inbox.ts";
import { createLiveness, type Liveness, type SocketTimeouts } from "./liveness.ts";
import { type ClientMessage, parseMessage } from "./messages.ts";
import { clientDisconnected, createOutbox, type Outbox } from "./outbox.ts";
import { isInternal, toErrorMessage } from "./socket-error.ts";
import { Syntheses, type SynthesisServices } from "./syntheses.ts";

interface SessionOptions {
  readonly socket: WebSocket;
  /**
   * Admits one more request. Returns the caller with its current permissions.
   * @throws {Unauthorized}
   * @throws {RateLimited}
   * @throws {KeyIsSuspended}
   */
  readonly admit: () => Principal;
  readonly services: SynthesisServices;
  readonly maxStreams: number;
  readonly timeouts: SocketTimeouts;
  readonly log: Logger;
  readonly time: Time;
}

/** A socket, from its handshake to its close. */
export class Session {
  /** Resolves when the socket is closed and its syntheses have been recorded. */
  readonly ended: Promise<void>;
  readonly #options: SessionOptions;
  readonly #openedAt: number;
  readonly #liveness: Liveness;
  readonly #outbox: Outbox;
  readonly #syntheses: Syntheses;
  #isDraining = false;
  #closing: { readonly code: number; readonly reason?: string } | undefined;
  #pingedAt: number;

  constructor(options: SessionOptions) {
    const { socket, services, maxStreams, timeouts, log, time } = options;
    this.#options = options;
    this.#openedAt = time.now();
    this.#pingedAt = this.#openedAt;
    this.#liveness = createLiveness(timeouts, time);
    this.#outbox = createOutbox(socket, {
      onBuffered: this.#liveness.dataDrained,
      onDrained: () => {
        this.#liveness.dataDrained();
        processInbox();
        this.#closeWhenDone();
      },
    });
    this.#syntheses = new Syntheses({
      ...{ services, maxStreams, outbox: this.#outbox, log },
      admit: () => this.#admit(),
      onEnd: () => this.#closeWhenDone(),
    });
    const processInbox = createInbox(socket, this.#outbox.isFull, (data, isBinary) =>
      this.#receive(data, isBinary),
    );
    for (const event of ["message", "ping", "pong"]) socket.on(event, this.#liveness.activityReceived);
    socket.on("error", (error) => this.#onError(error));
    this.ended = new Promise<void>((resolve) => {
      socket.on("close", (code) => resolve(this.#onClose(code)));
    });
  }

  /** Closes an idle socket, terminates a stalled one, and sends pings. Call it periodically. */
  checkLiveness(): void {
    const { socket, log } = this.#options;
    const sending = !this.#outbox.isEmpty();
    const state = this.#liveness.state({ synthesizing: this.#syntheses.count > 0, sending });
    if (state === "idle") this.#close(closeCodes.normal);
    if (state === "alive" && !sending) this.#pingIfDue();
    if (state !== "stalled" && state !== "gone") return;
    log.info({ verdict: state }, "socket ended");
    socket.terminate();
  }

  /**
   * Refuses new syntheses, and closes the socket when those in progress have ended and the client
   * has read them.
   */
  drain(): void {
    this.#isDraining = true;
    this.#close(closeCodes.goingAway);
  }

  /** Ends the syntheses in progress with a retryable error, and closes the socket. */
  abort(): void {
    this.#isDraining = true;
    this.#closing = { code: closeCodes.restart };
    this.#syntheses.abortAll(shuttingDown);
    this.#closeWhenDone();
  }

  /** Destroys the socket. */
  terminate(): void {
    this.#options.socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const { socket, log } = this.#options;
    if (socket.readyState !== WebSocket.OPEN) return; // no response could be sent
    this.#liveness.messageReceived();
    try {
      this.#handle(parseMessage(data, isBinary));
    } catch (error) {
      if (isInternal(error)) log.error({ err: error }, "failed");
      this.#outbox.send(toErrorMessage(error));
    }
  }

  #handle(message: ClientMessage): void {
    if (message.type === "synthesize") this.#syntheses.start(message.id, message.request);
    else if (message.type === "cancel") this.#syntheses.cancel(message.id);
    else this.#outbox.send({ type: "pong" });
  }

  #admit(): Principal {
    if (this.#isDraining) throw shuttingDown;
    try {
      return this.#options.admit();
    } catch (error) {
      if (error instanceof Unauthorized || error instanceof KeyIsSuspended)
        this.#close(closeCodes.refused, closeReason(error.message));
      throw error;
    }
  }

  /** Closes the socket once the syntheses in progress have ended and the client has read them. */
  #close(code: number, reason?: string): void {
    this.#closing ??= { code, ...(reason !== undefined && { reason }) };
    queueMicrotask(() => this.#closeWhenDone()); // after the caller has sent the error that explains it
  }

  #closeWhenDone(): void {
    const { socket } = this.#options;
    if (this.#closing === undefined || this.#syntheses.count > 0 || !this.#outbox.isEmpty()) return;
    socket.resume(); // a paused socket would never receive the client's close frame
    socket.close(this.#closing.code, this.#closing.reason);
  }

  /** Three pings fit into the stall timeout. */
  #pingIfDue(): void {
    const { socket, timeouts, time } = this.#options;
    if (time.now() - this.#pingedAt < timeouts.stallMs / 3) return;
    this.#pingedAt = time.now();
    socket.ping();
  }

  #onError(error: Error): void {
    // Only the code is logged: clients cause socket errors, and their stacks are of no use.
    this.#options.log.info({ code: "code" in error ? error.code : undefined }, "socket failed");
    this.#syntheses.abortAll(clientDisconnected);
  }

  /** Resolves when the syntheses have been recorded. */
  #onClose(code: number): Promise<void> {
    const { log, time } = this.#options;
    this.#syntheses.abortAll(clientDisconnected);
    log.info({ code, ms: Math.round(time.now() - this.#openedAt) }, "socket");
    return this.#syntheses.drained();
  }
}

export const shuttingDown = new Unavailable("The service is shutting down: reconnect and retry.", 1);
