import type { AudioChunk } from "../api/chunk-buffer.ts";
import type { AudioElement, MediaSource, SourceBuffer } from "../dom.ts";

/**
 * The element is fed at most this far ahead of the playback position. Browsers buffer a few
 * megabytes only.
 */
const maxSecondsAhead = 60;

/**
 * This much played audio stays in the buffer, because an element stalls at the edge of its buffered
 * range.
 */
const secondsBehind = 1;

/**
 * A slice is small compared with a browser's buffer, so that one more always fits after played
 * audio has been removed.
 */
const sliceBytes = 64 * 1_024;

/**
 * Appends the chunks to the source as its element plays them, and then ends the stream. Resolves
 * when all were appended, the source was detached or failed (the element reports that), or the
 * signal was aborted.
 * @throws the error of `chunks`
 */
export const feedMediaSource = async (
  source: MediaSource,
  audio: AudioElement,
  { contentType, chunks }: { contentType: string; chunks: AsyncIterable<AudioChunk> },
  signal: AbortSignal,
): Promise<void> => {
  if (!(await nextEvent(source, ["sourceopen"], signal))) return;
  const buffer = source.addSourceBuffer(contentType);
  // A user who seeks past the buffered range causes no `timeupdate`.
  const positionChanged = (): Promise<boolean> => nextEvent(audio, ["timeupdate", "seeking"], signal);
  const updated = (): Promise<boolean> => nextEvent(buffer, ["updateend"], signal);
  const isOpen = (): boolean => source.readyState === "open" && !signal.aborted;

  const removePlayed = async (): Promise<void> => {
    const end = audio.currentTime - secondsBehind;
    if (buffer.buffered.length === 0 || buffer.buffered.start(0) >= end)
      return void (await positionChanged());
    buffer.remove(0, end);
    await updated();
  };

  const append = async (slice: AudioChunk): Promise<void> => {
    while (isOpen() && secondsAhead(buffer, audio) > maxSecondsAhead) await positionChanged();
    while (isOpen() && !tryAppend(buffer, slice)) await removePlayed();
    if (isOpen()) await updated();
  };

  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += sliceBytes) await append(chunk.subarray(at, at + sliceBytes));
    if (!isOpen()) return;
  }
  source.endOfStream();
};

/** Starts to append; returns false if the browser's buffer is full. */
const tryAppend = (buffer: SourceBuffer, slice: AudioChunk): boolean => {
  try {
    buffer.appendBuffer(slice);
    return true;
  } catch (error) {
    if ((error as Error).name === "QuotaExceededError") return false;
    throw error;
  }
};

const secondsAhead = ({ buffered }: SourceBuffer, { currentTime }: AudioElement): number =>
  buffered.length === 0 ? 0 : buffered.end(buffered.length - 1) - currentTime;

/** Resolves with true at the first of the events, or with false when the signal is aborted. */
const nextEvent = <Kind extends string>(
  target: { addEventListener(kind: Kind, listener: () => void, options: object): void },
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const listening = new AbortController();
    const finish = (fired: boolean) => (): void => {
      listening.abort();
      resolve(fired);
    };
    for (const kind of kinds) target.addEventListener(kind, finish(true), { signal: listening.signal });
    signal.addEventListener("abort", finish(false), { signal: listening.signal });
  });
