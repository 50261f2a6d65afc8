export type AudioChunk = Uint8Array<ArrayBuffer>;

export type ChunkBuffer = ReturnType<typeof createChunkBuffer>;

/**
 * Audio that is still being received, buffered until it is read. `pull` is called for the next
 * chunk while the buffer has room. `onCancel` is called if the reader leaves before the end.
 */
export const createChunkBuffer = ({
  maxBytes,
  pull,
  onCancel,
}: {
  maxBytes: number;
  pull?: () => Promise<void>;
  onCancel: () => void;
}) => {
  const received = Promise.withResolvers<void>();
  received.promise.catch(() => {}); // the reader gets the same error
  let isClosed = false;
  let controller!: ReadableStreamDefaultController<AudioChunk>;

  const fail = (error: unknown): void => {
    if (isClosed) return;
    isClosed = true;
    controller.error(error);
    received.reject(error);
  };
  const stream = new ReadableStream<AudioChunk>(
    {
      start: (streamController) => {
        controller = streamController;
      },
      ...(pull && { pull: () => pull().catch(fail) }),
      cancel: () => {
        isClosed = true;
        received.resolve();
        onCancel();
      },
    },
    { highWaterMark: maxBytes, size: ({ length }) => length },
  );

  return {
    /**
     * The chunks, which can be read once. Ending the iteration early cancels the stream. The
     * iteration rejects if the audio is incomplete.
     */
    audio: iterate(stream),
    /** Resolves when all chunks have been received, whether or not they have been read. */
    received: received.promise,
    /** Bytes that still fit into the buffer; negative if it holds too many. */
    freeBytes: (): number => controller.desiredSize ?? 0,
    push: (chunk: AudioChunk): void => {
      if (!isClosed) controller.enqueue(chunk);
    },
    end: (): void => {
      if (isClosed) return;
      isClosed = true;
      controller.close();
      received.resolve();
    },
    /** Discards the buffered chunks. */
    fail,
  };
};

/** Safari's ReadableStream is not async iterable. */
async function* iterate(stream: ReadableStream<AudioChunk>): AsyncGenerator<AudioChunk> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {}); // has no effect after the end
  }
}
