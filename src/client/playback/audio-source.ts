import type { AudioElement, MediaSourceConstructor } from "../dom.ts";
import type { Delivery } from "../transport/transport.ts";
import { feedMediaSource } from "./media-source-feed.ts";
import { readBlob } from "./player.ts";

/** A source for an audio element. */
export interface AudioSource {
  readonly url: string;
  /** Appends the chunks of a stream. Call it after the element has been given the URL. @throws {VoxledgerError} */
  feed(signal: AbortSignal): Promise<void>;
}

/**
 * Resolves at once for a stream whose format the browser's Media Source supports (Chromium: mp3, but neither
 * ogg nor wav), or else when all of the audio has been received. Undefined for silence.
 */
export const createAudioSource = async (
  { audio: chunks, contentType, whole }: Delivery,
  audio: AudioElement,
  MediaSource: MediaSourceConstructor | undefined,
): Promise<AudioSource | undefined> => {
  if (whole || !MediaSource?.isTypeSupported(contentType)) {
    const blob = await readBlob(chunks, contentType);
    return blob.size === 0 ? undefined : { url: URL.createObjectURL(blob), feed: async () => {} };
  }
  const source = new MediaSource();
  audio.disableRemotePlayback = true; // a ManagedMediaSource does not open otherwise
  return {
    // Node's types allow blobs only.
    url: URL.createObjectURL(source as unknown as Blob),
    feed: (signal) => feedMediaSource(source, audio, { contentType, chunks }, signal),
  };
};
