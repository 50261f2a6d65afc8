import type { OpenedAudio, SynthesisQuery } from "../api/synthesis.ts";
import type { SocketConstructor, StartTimer } from "../dom.ts";
import { abortError, networkError, VoxledgerError } from "../errors.ts";
import { type ClientMessage, parseMessage, randomId } from "./socket-messages.ts";
import { SocketStream } from "./socket-stream.ts";

/**
 * The WebSocket never opened. Browsers hide the reason, which may be any HTTP error, from the page.
 */
export class HandshakeFailed extends VoxledgerError {
  constructor() {
    super(
      "The WebSocket could not be opened: the service or a proxy refuses it, or the key has too many sockets open.",
      { code: "NETWORK" },
    );
  }
}

const connectionLost = (reason: string): VoxledgerError =>
  reason === ""
    ? networkError()
    : new VoxledgerError(`The service closed the connection: ${reason}`, { code: "NETWORK" });

/** `WebSocket.OPEN` */
const open = 1;

interface SpeechSocketOptions {
  readonly WebSocket: SocketConstructor;
  readonly url: string;
  /** The milliseconds without a message after which a synthesis fails. */
  readonly timeout: number;
  /** The milliseconds after the last synthesis until the connection is closed. */
  readonly idleMs: number;
  readonly startTimer: StartTimer;
  /** Called for each message: only a message proves that the connection works. */
  readonly onMessage: () => void;
  /**
   * Called once, when the connection can no longer be used; with an error if no message was ever
   * received.
   */
  readonly onClosed: (failure?: VoxledgerError) => void;
}

/**
 * A WebSocket that carries several syntheses at once. Starts to connect; requests are sent when the
 * connection is open.
 */
export class SpeechSocket {
  readonly #options: SpeechSocketOptions;
  readonly #socket: InstanceType<SocketConstructor>;
  readonly #streams = new Map<string, { readonly stream: SocketStream; readonly request: SynthesisQuery }>();
  #stopIdleTimer = (): void => {};
  #hasOpened = false;
  #hasReceived = false;
  #isClosed = false;

  constructor(options: SpeechSocketOptions) {
    const { WebSocket, url } = options;
    this.#options = options;
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.addEventListener("open", () => this.#onOpen());
    this.#socket.addEventListener("message", ({ data }) => this.#onMessage(data));
    this.#socket.addEventListener("close", ({ reason }) => this.#onClose(reason));
  }

  /**
   * Resolves with the first chunk. Aborting the signal also ends a running stream.
   * @throws {VoxledgerError}
   */
  async synthesize(request: SynthesisQuery, signal: AbortSignal): Promise<OpenedAudio> {
    if (signal.aborted) throw abortError(signal.reason);
    const id = randomId();
    this.#stopIdleTimer();
    const stream = new SocketStream({
      ...this.#options,
      onFinished: (outcome) => {
        signal.removeEventListener("abort", cancel);
        this.#remove(id);
        if (outcome === "timed-out") this.close(); // a dead connection fires no close event
        if (outcome === "cancelled") this.#send({ type: "cancel", id });
      },
    });
    const cancel = (): void => stream.fail(abortError(signal.reason));
    this.#streams.set(id, { stream, request });
    signal.addEventListener("abort", cancel);
    this.#send({ type: "synthesize", id, request });
    return await stream.opened;
  }

  /** Closes the connection and ends all syntheses. */
  close(): void {
    this.#markClosed();
    this.#socket.close();
  }

  #onOpen(): void {
    this.#hasOpened = true;
    for (const [id, { request }] of this.#streams) this.#send({ type: "synthesize", id, request });
  }

  #onMessage(data: unknown): void {
    const message = parseMessage(data);
    this.#hasReceived = true;
    this.#options.onMessage();
    if (message?.id !== undefined) this.#streams.get(message.id)?.stream.receive(message);
  }

  #onClose(reason: string): void {
    const failure = this.#hasOpened ? connectionLost(reason) : new HandshakeFailed();
    this.#markClosed(this.#hasReceived ? undefined : failure);
    for (const { stream } of this.#streams.values()) stream.fail(failure);
  }

  #markClosed(failure?: VoxledgerError): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopIdleTimer();
    this.#options.onClosed(failure);
  }

  #send(message: ClientMessage): void {
    if (this.#socket.readyState === open) this.#socket.send(JSON.stringify(message));
  }

  #remove(id: string): void {
    this.#streams.delete(id);
    if (this.#streams.size > 0 || this.#isClosed) return;
    const { idleMs, startTimer } = this.#options;
    this.#stopIdleTimer = startTimer(idleMs, () => this.close());
  }
}
