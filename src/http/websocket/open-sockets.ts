import type { Logger } from "pino";
import type { WebSocket } from "ws";
import type { Clock } from "../../async/clock.ts";
import { withDeadline } from "../../async/deadline.ts";
import type { SocketCaller } from "./admission.ts";
import { streamPath } from "./handshake.ts";
import type { SocketTimeouts } from "./liveness.ts";
import { Session } from "./session.ts";
import type { SynthesisServices } from "./syntheses.ts";

export interface SocketLimits extends SocketTimeouts {
  /** Open sockets per key. */
  readonly socketsPerKey: number;
  /** Syntheses in progress per socket. */
  readonly streamsPerSocket: number;
}

interface OpenSocketsOptions {
  readonly services: SynthesisServices;
  readonly limits: SocketLimits;
  readonly log: Logger;
  readonly clock: Clock;
}

/** How long a client may take to receive the last messages at shutdown. */
const abortTimeoutMs = 500;

/** The sessions of all open sockets. */
export class OpenSockets {
  readonly #options: OpenSocketsOptions;
  readonly #sessionsByKey = new Map<string, Set<Session>>();
  #stopChecking: (() => void) | undefined;

  constructor(options: OpenSocketsOptions) {
    this.#options = options;
  }

  /** Whether the key has the maximum of sockets open. */
  isFull(apiKey: string): boolean {
    return (this.#sessionsByKey.get(apiKey)?.size ?? 0) >= this.#options.limits.socketsPerKey;
  }

  open(socket: WebSocket, { apiKey, admit }: SocketCaller): void {
    const { limits, log, ...options } = this.#options;
    const session = new Session({
      ...options,
      ...{ socket, admit },
      maxStreams: limits.streamsPerSocket,
      timeouts: limits,
      log: log.child({ route: streamPath, apiKey }),
    });
    const sessions = this.#sessionsByKey.get(apiKey) ?? new Set();
    this.#sessionsByKey.set(apiKey, sessions.add(session));
    void session.ended.then(() => {
      sessions.delete(session);
      if (sessions.size === 0) this.#sessionsByKey.delete(apiKey);
    });
    this.#checkPeriodically();
  }

  /** Closes each socket when its syntheses have ended. After the timeout the remaining ones end with a retryable error. */
  async drain(timeoutMs: number): Promise<void> {
    const sessions = this.#sessions();
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

  #sessions(): Session[] {
    return [...this.#sessionsByKey.values()].flatMap((sessions) => [...sessions]);
  }

  /** Checks the liveness of all sockets while there are any. */
  #checkPeriodically(): void {
    const { limits, clock } = this.#options;
    if (this.#stopChecking || this.#sessionsByKey.size === 0) return;
    this.#stopChecking = clock.after(Math.min(limits.idleMs, limits.stallMs, 4_000) / 4, () => {
      this.#stopChecking = undefined;
      for (const session of this.#sessions()) session.checkLiveness();
      this.#checkPeriodically();
    });
  }

  #settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
    const { clock } = this.#options;
    const onTimeout = (): Error => new Error("The deadline has passed.");
    return withDeadline({ clock, ms, onTimeout }, () => promise).then(
      () => true,
      () => false,
    );
  }
}
