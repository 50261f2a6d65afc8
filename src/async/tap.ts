export interface TapOptions<T> {
  /** Called before each chunk is passed on. */
  readonly onChunk?: (chunk: T) => void;
  /** Called when the reader has taken a chunk and asks for the next one. */
  readonly onResume?: () => void;
  /** Called after the last chunk. What it throws is treated like an error of the source. */
  readonly onEnd?: () => void;
  /** Called when the source fails. What it throws replaces the error. */
  readonly onError?: (error: unknown) => void;
  /** Called last, once, also when the reader leaves early. */
  readonly onClose?: () => void;
}

/** Passes a stream through unchanged and reports its progress. */
export async function* tap<T>(source: AsyncIterable<T>, options: TapOptions<T>): AsyncGenerator<T, void> {
  const { onChunk, onResume, onEnd, onError, onClose } = options;
  try {
    for await (const chunk of source) {
      onChunk?.(chunk);
      yield chunk;
      onResume?.();
    }
    onEnd?.();
  } catch (error) {
    onError?.(error);
    throw error;
  } finally {
    onClose?.();
  }
}
