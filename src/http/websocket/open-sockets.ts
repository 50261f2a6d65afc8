import type { Logger } from "pino";
import type { WebSocket } from "ws";
import { withDeadline } from "../../async/deadline.ts";
import type { Time } from "../../async/time.ts";
import type { SocketCaller } from "./admission.ts";
import { streamPath } from "./handshake.ts";
import type { SocketTimeouts } from "./liveness.ts";
import { Session } from "./session.ts";
import type { SynthesisServices } from "./syntheses.ts";

export interface SocketLimits extends SocketTimeouts {
  /** Syntheses in progress per socket. */
  readonly streamsPerSocket: number;
}

interface OpenSocketsOptions {
  readonly services: SynthesisServices;
  readonly limits: SocketLimits;
  readonly log: Logger;
  readonly time: Time;
}

/** The time that a client may take to receive the last messages at shutdown. */
const abortTimeoutMs = 500;

/** The sessions of all open sockets. */
export class OpenSockets {
  readonly #options: OpenSocketsOptions;
  readonly #sessions = new Set<Session>();
  #stopChecking: (() => void) | undefined;

  constructor(options: OpenSocketsOptions) {
    this.#options = options;
  }

  /**
   * Opens a session. Calls `release` when the socket is closed and its syntheses have been
   * recorded.
   */
  open(socket: WebSocket, { apiKey, admit, release }: SocketCaller): void {
    const { limits, log, ...options } = this.#options;
    const session = new Session({
      ...options,
      ...{ socket, admit },
      maxStreams: limits.streamsPerSocket,
      timeouts: limits,
      log: log.child({ route: streamPath, apiKey }),
    });
    this.#sessions.add(session);
    void session.ended.then(() => {
      this.#sessions.delete(session);
      release();
    });
    this.#checkPeriodically();
  }

  /**
   * Closes each socket when its syntheses have ended. After the timeout the remaining ones end with
   * a retryable error.
   */
  async drain(timeoutMs: number): Promise<void> {
    const sessions = [...this.#sessions];
    const ended = Promise.all(sessions.map((session) => session.ended));
    for (const session of sessions) session.drain();
    if (!(await this.#settlesWithin(ended, timeoutMs))) {
      for (const session of sessions) session.abort();
      await this.#settlesWithin(ended, abortTimeoutMs);
    }
    for (const session of sessions) session.terminate();
    await this.#settlesWithin(ended, abortTimeoutMs);
    this.#stopChecking?.();
  }

  /** Checks the liveness of all sockets while there are any. */
  #checkPeriodically(): void {
    const { limits, time } = this.#options;
    if (this.#stopChecking || this.#sessions.size === 0) return;
    this.#stopChecking = time.after(Math.min(limits.idleMs, limits.stallMs, 4_000) / 4, () => {
      this.#stopChecking = undefined;
      for (const session of this.#sessions) session.checkLiveness();
      this.#checkPeriodically();
    });
  }

  #settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
    const { time } = this.#options;
    const onTimeout = (): Error => new Error("The deadline has passed.");
    return withDeadline({ time, ms, onTimeout }, () => promise).then(
      () => true,
      () => false,
    );
  }
}
