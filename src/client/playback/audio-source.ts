import type { AudioElement, MediaSourceConstructor } from "../dom.ts";
import type { AudioChunk } from "../transport/incoming-audio.ts";
import type { Delivery } from "../transport/transport.ts";
import { feedMediaSource } from "./media-source-feed.ts";
import { readAll } from "./player.ts";

/** What an audio element can play. */
export interface AudioSource {
  readonly url: string;
  /** To be called when the element has the URL: gives it what is still coming. @throws {VoxledgerError} */
  feed(signal: AbortSignal): Promise<void>;
}

/**
 * The delivery as something to play: at once and piece by piece where the browser takes its format so (Chromium takes
 * mp3, and neither ogg nor wav), or else when it is whole. Undefined for silence.
 */
export const createAudioSource = async (
  { audio: pieces, contentType, whole }: Delivery,
  audio: AudioElement,
  MediaSource: MediaSourceConstructor | undefined,
): Promise<AudioSource | undefined> => {
  if (whole || !MediaSource?.isTypeSupported(contentType)) {
    const bytes = await readAll(pieces);
    const url = (): string => URL.createObjectURL(new Blob([bytes], { type: contentType }));
    return bytes.length === 0 ? undefined : { url: url(), feed: async () => {} };
  }
  const coming = await begun(pieces);
  if (!coming) return undefined;
  const source = new MediaSource();
  audio.disableRemotePlayback = true; // or a ManagedMediaSource never opens
  return {
    // Node's types know of no sources but blobs.
    url: URL.createObjectURL(source as unknown as Blob),
    feed: (signal) => feedMediaSource(source, audio, { contentType, pieces: coming }, signal),
  };
};

/** The same pieces, the first of which is here; undefined when there is none. */
const begun = async (pieces: AsyncIterable<AudioChunk>): Promise<AsyncIterable<AudioChunk> | undefined> => {
  const iterator = pieces[Symbol.asyncIterator]();
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
