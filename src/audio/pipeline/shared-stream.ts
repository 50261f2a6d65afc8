import { untilAborted } from "../../async/deadline.ts";
import type { AudioContent } from "../store/audio-store.ts";

/**
 * Audio that is being synthesized, for many readers: each gets all of it from the first byte, at
 * its own pace. The source is read as far as the fastest reader needs, and a little ahead. When the
 * last reader leaves before the end, the source is aborted.
 */
export interface SharedStream {
  /**
   * Resolves with the complete audio. `onBegun`: called when its first bytes exist.
   * @throws the source's failure, or the signal's reason
   */
  readAll(signal: AbortSignal, onBegun?: () => void): Promise<AudioContent>;
  /**
   * Resolves when the first bytes are available. Chunks are shared: do not modify them.
   * @throws the source's failure, or the signal's reason, also midway
   */
  read(signal: AbortSignal): Promise<AsyncIterable<Buffer>>;
  /** The memory that its readers hold together. */
  readonly memory: AudioMemory;
}

/** The memory that audio takes. All readers of the same audio have the same object. */
export interface AudioMemory {
  /** Grows while the audio is synthesized. */
  readonly byteLength: number;
}

/** `Ending`: what the source returns after its last chunk. */
export interface SharedStreamOptions<Ending = unknown> {
  /** Starts the synthesis. The signal is aborted when the synthesis is over, however it ended. */
  readonly source: (signal: AbortSignal) => AsyncIterable<Buffer, Ending>;
  /**
   * Checks and completes the audio, without changing the number of its bytes. Readers see the end
   * only afterwards.
   * @throws if the audio is incomplete
   */
  readonly finish: (bytes: Buffer, ending: Ending) => AudioContent;
  /**
   * True to restart after this failure. Called at most once, and only before any reader has
   * received bytes.
   */
  readonly mayRestart: (error: unknown) => boolean;
  /** How far the source is read beyond the fastest reader. */
  readonly readAheadBytes: number;
  /**
   * Called once, before any reader sees the end. `failure` is undefined if the audio was completed
   * or cancelled.
   */
  readonly onOver: (failure: unknown) => void;
}

const over = new Error("The synthesis has ended.");
const chunkBytes = 64 * 1024;

/** Yields complete audio in chunks, so that a slow reader applies backpressure. */
export async function* inChunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

type Outcome = { readonly audio: AudioContent } | { readonly error: unknown };

export class SharedSource<Ending> implements SharedStream, AudioMemory {
  readonly #options: SharedStreamOptions<Ending>;
  #controller = new AbortController();
  #iterator: AsyncIterator<Buffer, Ending>;
  #chunks: Buffer[] = [];
  #size = 0;
  #outcome: Outcome | undefined;
  /** The read of the source that is in progress, which all waiting readers share. */
  #pulling: Promise<void> | undefined;
  #readers = 0;
  #isDelivered = false;
  #isRestarted = false;
  /** Bytes that the fastest reader has received. */
  #furthest = 0;
  #isReadingAhead = false;

  constructor(options: SharedStreamOptions<Ending>) {
    this.#options = options;
    this.#iterator = this.#startSource();
  }

  get memory(): AudioMemory {
    return this;
  }

  get byteLength(): number {
    return this.#outcome && "audio" in this.#outcome ? this.#outcome.audio.bytes.length : this.#size;
  }

  async readAll(signal: AbortSignal, onBegun?: () => void): Promise<AudioContent> {
    const leave = this.#join(signal);
    try {
      while (!this.#outcome) {
        if (this.#size > 0) onBegun?.();
        await untilAborted(this.#pull(), signal);
      }
      return audioIn(this.#outcome);
    } finally {
      leave();
    }
  }

  async read(signal: AbortSignal): Promise<AsyncIterable<Buffer>> {
    const leave = this.#join(signal);
    try {
      while (this.#size === 0 && !this.#outcome) await untilAborted(this.#pull(), signal);
      if (this.#size === 0 && this.#outcome) audioIn(this.#outcome);
    } catch (error) {
      leave();
      throw error;
    }
    this.#isDelivered = true;
    return this.#chunksUntilEnd(signal, leave);
  }

  async *#chunksUntilEnd(signal: AbortSignal, leave: () => void): AsyncGenerator<Buffer> {
    try {
      let sent = 0;
      for (let next = 0; ; ) {
        const chunk = this.#chunks[next];
        if (chunk) {
          next++;
          sent += chunk.length;
          this.#furthest = Math.max(this.#furthest, sent);
          void this.#readAhead();
          yield chunk;
        } else if (this.#outcome) return yield* inChunks(audioIn(this.#outcome).bytes.subarray(sent));
        else await untilAborted(this.#pull(), signal);
      }
    } finally {
      leave();
    }
  }

  /** The last reader that leaves early ends the synthesis. */
  #join(signal: AbortSignal): () => void {
    signal.throwIfAborted();
    this.#readers++;
    let isIn = true;
    const leave = (): void => {
      if (!isIn) return;
      isIn = false;
      signal.removeEventListener("abort", leave);
      if (--this.#readers > 0 || this.#outcome) return;
      const error: unknown = signal.aborted ? signal.reason : over;
      this.#end({ error }, undefined, error);
    };
    signal.addEventListener("abort", leave);
    return leave;
  }

  #pull(): Promise<void> {
    this.#pulling ??= this.#readSource().finally(() => {
      this.#pulling = undefined;
    });
    return this.#pulling;
  }

  async #readAhead(): Promise<void> {
    if (this.#isReadingAhead) return;
    this.#isReadingAhead = true;
    while (!this.#outcome && this.#size - this.#furthest < this.#options.readAheadBytes) await this.#pull();
    this.#isReadingAhead = false;
  }

  async #readSource(): Promise<void> {
    try {
      const { done, value } = await this.#iterator.next();
      if (this.#outcome) return;
      if (done) {
        const audio = this.#options.finish(Buffer.concat(this.#chunks, this.#size), value);
        this.#chunks = [];
        return this.#end({ audio });
      }
      this.#chunks.push(isSmallPart(value) ? Buffer.from(value) : value);
      this.#size += value.length;
    } catch (error) {
      if (this.#outcome) return;
      if (!this.#isDelivered && !this.#isRestarted && this.#options.mayRestart(error)) this.#restart();
      else this.#end({ error }, error);
    }
  }

  #startSource(): AsyncIterator<Buffer, Ending> {
    return this.#options.source(this.#controller.signal)[Symbol.asyncIterator]();
  }

  #restart(): void {
    this.#stopSource(over);
    this.#isRestarted = true;
    this.#chunks = [];
    this.#size = 0;
    this.#controller = new AbortController();
    this.#iterator = this.#startSource();
  }

  #end(outcome: Outcome, failure?: unknown, reason: unknown = over): void {
    this.#outcome = outcome;
    this.#options.onOver(failure);
    this.#stopSource(reason);
  }

  /**
   * A source between two reads does not see the signal: only `return` makes it release its slots.
   */
  #stopSource(reason: unknown): void {
    this.#controller.abort(reason);
    this.#iterator.return?.().catch(() => {}); // the outcome is known already
  }
}

/** True if a chunk would keep a buffer of more than three times its size in memory. */
const isSmallPart = ({ length, buffer }: Buffer): boolean => 3 * length < buffer.byteLength;

const audioIn = (outcome: Outcome): AudioContent => {
  if ("error" in outcome) throw outcome.error;
  return outcome.audio;
};
