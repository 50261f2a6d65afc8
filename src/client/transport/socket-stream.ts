import type { StartTimer } from "../environment.ts";
import { asVoxledgerError, timeoutError, VoxledgerError } from "../errors.ts";
import { createChunkBuffer } from "./chunk-buffer.ts";
import type { StreamMessage } from "./socket-messages.ts";
import type { OpenedAudio } from "./transport.ts";

/** One synthesis on a WebSocket. */
export interface SocketStream {
  /** Resolves with the first chunk, or at the end of silence. Until then the request can be retried. @throws {VoxledgerError} */
  readonly opened: Promise<OpenedAudio>;
  receive(message: StreamMessage): void;
  /** Has no effect after the end. */
  fail(error: VoxledgerError): void;
}

/** `ended`: by the service; `cancelled`: by this side; `timed-out`: the service sent nothing for too long. */
export type StreamOutcome = "ended" | "cancelled" | "timed-out";

/** A page cannot pause a WebSocket, so everything that is not played yet is buffered. A longer stream fails. */
const maxBufferedBytes = 32 * 1_024 * 1_024;

export const createSocketStream = ({
  timeout,
  startTimer,
  onFinished,
}: {
  /** Milliseconds without a message after which the stream fails. */
  timeout: number;
  startTimer: StartTimer;
  onFinished: (outcome: StreamOutcome) => void;
}): SocketStream => {
  const opened = Promise.withResolvers<OpenedAudio>();
  const buffer = createChunkBuffer({
    maxBytes: maxBufferedBytes,
    onCancel: () => {
      if (!isFinished) finish("cancelled");
    },
  });
  const { audio, received } = buffer;
  let stopTimer = (): void => {};
  let metadata: Pick<OpenedAudio, "contentType" | "prosodyApplied"> | undefined;
  let chunks = 0;
  let bytes = 0;
  let isFinished = false;

  const finish = (outcome: StreamOutcome): void => {
    isFinished = true;
    stopTimer();
    onFinished(outcome);
  };
  const fail = (error: VoxledgerError, outcome: StreamOutcome = "cancelled"): void => {
    if (isFinished) return;
    buffer.fail(error);
    opened.reject(error);
    finish(outcome);
  };
  const restartTimer = (): void => {
    stopTimer();
    stopTimer = startTimer(timeout, () => fail(timeoutError(timeout), "timed-out"));
  };
  const open = (): void => {
    if (!metadata) throw incomplete("stream_start is missing.");
    opened.resolve({ ...metadata, whole: chunks === 0, audio, received });
  };

  const addChunk = ({ chunkIndex, data }: Message<"audio">): void => {
    if (chunkIndex !== chunks) throw incomplete(`Chunk ${chunks} is missing.`);
    chunks++;
    bytes += data.length;
    buffer.push(data);
    if (buffer.freeBytes() < 0) throw incomplete(`More than ${maxBufferedBytes} bytes wait to be played.`);
    open();
  };
  const end = ({ totalChunks, totalBytes }: Message<"stream_end">): void => {
    if (totalChunks !== chunks || totalBytes !== bytes) throw incomplete("The last chunks are missing.");
    open();
    buffer.end();
    finish("ended");
  };

  const handle = (message: StreamMessage): void => {
    switch (message.type) {
      case "stream_start":
        metadata = { contentType: message.contentType, prosodyApplied: message.prosodyApplied };
        break;
      case "audio":
        addChunk(message);
        break;
      case "stream_end":
        end(message);
        break;
      case "error":
        fail(new VoxledgerError(message.message, message), "ended");
    }
  };

  restartTimer();
  return {
    opened: opened.promise,
    receive: (message) => {
      if (isFinished) return;
      restartTimer();
      try {
        handle(message);
      } catch (error) {
        fail(asVoxledgerError(error));
      }
    },
    fail,
  };
};

type Message<Type extends StreamMessage["type"]> = Extract<StreamMessage, { type: Type }>;

const incomplete = (detail: string): VoxledgerError =>
  new VoxledgerError(`The audio is incomplete. ${detail}`, { code: "NETWORK" });
