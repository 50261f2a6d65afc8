import { createChunkBuffer } from "../api/chunk-buffer.ts";
import type { OpenedAudio } from "../api/synthesis.ts";
import type { StartTimer } from "../dom.ts";
import { asVoxledgerError, timeoutError, VoxledgerError } from "../errors.ts";
import type { StreamMessage } from "./socket-messages.ts";

/**
 * `ended`: by the service; `cancelled`: by this side; `timed-out`: the service sent nothing for too
 * long.
 */
export type StreamOutcome = "ended" | "cancelled" | "timed-out";

/**
 * A page cannot pause a WebSocket, so everything that is not played yet is buffered. A longer
 * stream fails.
 */
const maxBufferedBytes = 32 * 1_024 * 1_024;

type Message<Type extends StreamMessage["type"]> = Extract<StreamMessage, { type: Type }>;

interface SocketStreamOptions {
  /** The milliseconds without a message after which the stream fails. */
  readonly timeout: number;
  readonly startTimer: StartTimer;
  readonly onFinished: (outcome: StreamOutcome) => void;
}

/** Receives the audio of one synthesis on a WebSocket. */
export class SocketStream {
  readonly #options: SocketStreamOptions;
  readonly #opened = Promise.withResolvers<OpenedAudio>();
  readonly #buffer = createChunkBuffer({
    maxBytes: maxBufferedBytes,
    onCancel: () => {
      if (!this.#isFinished) this.#finish("cancelled");
    },
  });
  #stopTimer = (): void => {};
  #metadata: Pick<OpenedAudio, "contentType" | "prosodyApplied"> | undefined;
  #chunks = 0;
  #bytes = 0;
  #isFinished = false;

  constructor(options: SocketStreamOptions) {
    this.#options = options;
    this.#restartTimer();
  }

  /**
   * Resolves with the first chunk or, if the audio is silence and has none, at the end of the
   * stream. Until then the request can be retried.
   * @throws {VoxledgerError}
   */
  get opened(): Promise<OpenedAudio> {
    return this.#opened.promise;
  }

  receive(message: StreamMessage): void {
    if (this.#isFinished) return;
    this.#restartTimer();
    try {
      this.#handle(message);
    } catch (error) {
      this.fail(asVoxledgerError(error));
    }
  }

  /** Has no effect after the end. */
  fail(error: VoxledgerError, outcome: StreamOutcome = "cancelled"): void {
    if (this.#isFinished) return;
    this.#buffer.fail(error);
    this.#opened.reject(error);
    this.#finish(outcome);
  }

  #handle(message: StreamMessage): void {
    switch (message.type) {
      case "stream_start":
        this.#metadata = { contentType: message.contentType, prosodyApplied: message.prosodyApplied };
        break;
      case "audio":
        this.#addChunk(message);
        break;
      case "stream_end":
        this.#end(message);
        break;
      case "error":
        this.fail(new VoxledgerError(message.message, message), "ended");
    }
  }

  #addChunk({ chunkIndex, data }: Message<"audio">): void {
    if (chunkIndex !== this.#chunks) throw incomplete(`Chunk ${this.#chunks} is missing.`);
    this.#chunks++;
    this.#bytes += data.length;
    this.#buffer.push(data);
    if (this.#buffer.freeBytes() < 0)
      throw incomplete(`More than ${maxBufferedBytes} bytes wait to be played.`);
    this.#open();
  }

  #end({ totalChunks, totalBytes }: Message<"stream_end">): void {
    if (totalChunks !== this.#chunks || totalBytes !== this.#bytes)
      throw incomplete("The last chunks are missing.");
    this.#open();
    this.#buffer.end();
    this.#finish("ended");
  }

  #open(): void {
    if (!this.#metadata) throw incomplete("stream_start is missing.");
    const { audio, received } = this.#buffer;
    this.#opened.resolve({ ...this.#metadata, whole: this.#chunks === 0, audio, received });
  }

  #finish(outcome: StreamOutcome): void {
    this.#isFinished = true;
    this.#stopTimer();
    this.#options.onFinished(outcome);
  }

  #restartTimer(): void {
    const { timeout, startTimer } = this.#options;
    this.#stopTimer();
    this.#stopTimer = startTimer(timeout, () => this.fail(timeoutError(timeout), "timed-out"));
  }
}

const incomplete = (detail: string): VoxledgerError =>
  new VoxledgerError(`The audio is incomplete. ${detail}`, { code: "NETWORK" });
