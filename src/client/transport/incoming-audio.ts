export type AudioChunk = Uint8Array<ArrayBuffer>;

/** Audio that is still on its way. */
export interface AudioBuffer {
  /** To be read once. Leaving the iteration ends the coming. Rejects when the audio will never be whole. */
  readonly audio: AsyncIterable<AudioChunk>;
  /** Resolves when all of it is here, read or not. */
  readonly arrived: Promise<void>;
  /** How many more bytes it wants to keep for its reader; below 0 when it has more than that. */
  room(): number;
  push(piece: AudioChunk): void;
  end(): void;
  /** What was kept is given up. */
  fail(error: unknown): void;
}

/** Keeps what comes until it is read. `pull` is called for the next piece while there is room for it. */
export const createAudioBuffer = ({
  keptBytes,
  pull,
  leave,
}: {
  keptBytes: number;
  pull?: () => Promise<void>;
  /** Called when the reader leaves before the end. */
  leave: () => void;
}): AudioBuffer => {
  const arrived = Promise.withResolvers<void>();
  arrived.promise.catch(() => {}); // the reader is told
  let over = false;
  let controller!: ReadableStreamDefaultController<AudioChunk>;
  /** Nothing more may be said to a stream that is over, and it may be over at any moment: its reader left. */
  const unlessOver = (tell: () => void): void => {
    if (!over) tell();
  };

  const end = (): void => {
    over = true;
    controller.close();
    arrived.resolve();
  };
  const fail = (error: unknown): void => {
    over = true;
    controller.error(error);
    arrived.reject(error);
  };
  const stream = new ReadableStream<AudioChunk>(
    {
      start: (given) => {
        controller = given;
      },
      ...(pull && { pull: () => pull().catch((error) => unlessOver(() => fail(error))) }),
      cancel: () => {
        over = true;
        arrived.resolve();
        leave();
      },
    },
    { highWaterMark: keptBytes, size: ({ length }) => length },
  );

  return {
    audio: read(stream),
    arrived: arrived.promise,
    room: () => controller.desiredSize ?? 0,
    push: (piece) => unlessOver(() => controller.enqueue(piece)),
    end: () => unlessOver(end),
    fail: (error) => unlessOver(() => fail(error)),
  };
};

/** Not every browser iterates streams by itself. */
async function* read(stream: ReadableStream<AudioChunk>): AsyncGenerator<AudioChunk> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {}); // nothing, when it has come to its end
  }
}
