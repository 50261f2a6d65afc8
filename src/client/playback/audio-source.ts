import type { AudioElement, MediaSourceConstructor } from "../dom.ts";
import type { AudioChunk } from "../transport/audio-buffer.ts";
import type { Delivery } from "../transport/transport.ts";
import { feedMediaSource } from "./media-source-feed.ts";
import { readAll } from "./player.ts";

/** A source for an audio element. */
export interface AudioSource {
  readonly url: string;
  /** Appends the chunks of a stream. Call it after the element has been given the URL. @throws {VoxledgerError} */
  feed(signal: AbortSignal): Promise<void>;
}

/**
 * Resolves with the first chunk of a stream whose format the browser's Media Source supports (Chromium: mp3, but neither
 * ogg nor wav), or else when all of the audio has been received. Undefined for silence.
 */
export const createAudioSource = async (
  { audio: chunks, contentType, whole }: Delivery,
  audio: AudioElement,
  MediaSource: MediaSourceConstructor | undefined,
): Promise<AudioSource | undefined> => {
  if (whole || !MediaSource?.isTypeSupported(contentType)) {
    const bytes = await readAll(chunks);
    if (bytes.length === 0) return undefined;
    return { url: URL.createObjectURL(new Blob([bytes], { type: contentType })), feed: async () => {} };
  }
  const started = await awaitFirst(chunks);
  if (!started) return undefined;
  const source = new MediaSource();
  audio.disableRemotePlayback = true; // a ManagedMediaSource does not open otherwise
  return {
    // Node's types allow blobs only.
    url: URL.createObjectURL(source as unknown as Blob),
    feed: (signal) => feedMediaSource(source, audio, { contentType, chunks: started }, signal),
  };
};

/** The same chunks, after the first one has been received; undefined if there is none. */
const awaitFirst = async (
  chunks: AsyncIterable<AudioChunk>,
): Promise<AsyncIterable<AudioChunk> | undefined> => {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) return undefined;
  return (async function* () {
    try {
      yield first.value;
      yield* { [Symbol.asyncIterator]: () => iterator };
    } finally {
      await iterator.return?.();
    }
  })();
};
