import { asVoxledgerError, VoxledgerError } from "../errors.ts";
import { createAudioBuffer } from "./incoming-audio.ts";
import type { OpenedAudio } from "./prefetch.ts";
import type { ErrorMessage, StreamMessage } from "./socket-messages.ts";
import { timeoutError } from "./time-limit.ts";

/** One synthesis over a connection that it shares with others. */
export interface SocketStream {
  /** Resolves with its first piece, or its end. Until then it can be asked for again. @throws {VoxledgerError} */
  readonly opened: Promise<OpenedAudio>;
  receive(message: StreamMessage): void;
  /** Ends it; nothing, when it is over. */
  fail(error: VoxledgerError): void;
}

/** How it came to be over: told so by the service, left by us, or because the service fell silent. */
export type StreamOutcome = "told" | "left" | "overdue";

/**
 * A page cannot hold a WebSocket back: what it does not play yet it has to keep. No text that the service takes comes
 * near this; whatever does is given up.
 */
const keptBytes = 32 * 1_024 * 1_024;

export const createSocketStream = ({
  timeout,
  onOver,
}: {
  /** Milliseconds that the service may be silent. */
  timeout: number;
  onOver: (how: StreamOutcome) => void;
}): SocketStream => {
  const opened = Promise.withResolvers<OpenedAudio>();
  const incoming = createAudioBuffer({
    keptBytes,
    leave: () => {
      if (!isOver) over("left");
    },
  });
  const { audio, arrived } = incoming;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let description: Pick<OpenedAudio, "contentType" | "prosodyApplied"> | undefined;
  let chunks = 0;
  let bytes = 0;
  let isOver = false;

  const over = (how: StreamOutcome): void => {
    isOver = true;
    clearTimeout(timer);
    onOver(how);
  };
  const fail = (error: VoxledgerError, how: StreamOutcome = "left"): void => {
    if (isOver) return;
    incoming.fail(error);
    opened.reject(error);
    over(how);
  };
  const expectMore = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(timeoutError(timeout), "overdue"), timeout);
  };
  const open = (): void => {
    if (!description) throw broken("Its beginning is missing.");
    opened.resolve({ ...description, whole: false, audio, arrived });
  };

  const add = ({ chunkIndex, data }: Told<"audio">): void => {
    if (chunkIndex !== chunks) throw broken(`Piece ${chunks} is missing.`);
    chunks++;
    bytes += data.length;
    incoming.push(data);
    if (incoming.room() < 0) throw broken("More of it waits to be played than is kept.");
    open();
  };
  const end = ({ totalChunks, totalBytes }: Told<"stream_end">): void => {
    if (totalChunks !== chunks || totalBytes !== bytes) throw broken("Its end is missing.");
    open();
    incoming.end();
    over("told");
  };

  const take = (message: StreamMessage): void => {
    switch (message.type) {
      case "stream_start":
        description = { contentType: message.contentType, prosodyApplied: message.prosodyApplied };
        break;
      case "audio":
        add(message);
        break;
      case "stream_end":
        end(message);
        break;
      case "error":
        fail(refused(message), "told");
    }
  };

  expectMore();
  return {
    opened: opened.promise,
    receive: (message) => {
      if (isOver) return;
      expectMore();
      try {
        take(message);
      } catch (error) {
        fail(asVoxledgerError(error));
      }
    },
    fail,
  };
};

type Told<Type extends StreamMessage["type"]> = Extract<StreamMessage, { type: Type }>;

export const refused = ({ message, ...details }: ErrorMessage): VoxledgerError =>
  new VoxledgerError(message, details);

const broken = (how: string): VoxledgerError =>
  new VoxledgerError(`The sound did not come whole. ${how}`, { code: "NETWORK" });
