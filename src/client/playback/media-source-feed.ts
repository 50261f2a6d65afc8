import type { AudioElement, MediaSource, SourceBuffer } from "../dom.ts";
import type { AudioChunk } from "../transport/incoming-audio.ts";

/** So far ahead of what is heard the element is fed: browsers keep some megabytes, and nobody knows who hears it all. */
const aheadSeconds = 60;

/** So much of what was heard is left when room is made: an element stalls that stands at the edge of what it has. */
const behindSeconds = 1;

/** Small against what a browser keeps, so that there is always room for one more. */
const sliceBytes = 64 * 1_024;

/**
 * Gives the element that plays the source the pieces as they come, at its own pace, and then the end. Resolves when all
 * was given, when the source was taken from the element or broke (of that the element tells), or the signal was raised.
 * @throws what the pieces throw
 */
export const feedMediaSource = async (
  source: MediaSource,
  audio: AudioElement,
  { contentType, pieces }: { contentType: string; pieces: AsyncIterable<AudioChunk> },
  signal: AbortSignal,
): Promise<void> => {
  if (!(await happens(source, ["sourceopen"], signal))) return;
  const buffer = source.addSourceBuffer(contentType);
  // Who seeks to where nothing is yet hears nothing, and needs it all the more.
  const heard = (): Promise<boolean> => happens(audio, ["timeupdate", "seeking"], signal);
  const updated = (): Promise<boolean> => happens(buffer, ["updateend"], signal);
  const isOpen = (): boolean => source.readyState === "open" && !signal.aborted;

  const makeRoom = async (): Promise<void> => {
    const until = audio.currentTime - behindSeconds;
    if (buffer.buffered.length === 0 || buffer.buffered.start(0) >= until) return void (await heard());
    buffer.remove(0, until);
    await updated();
  };

  const append = async (slice: AudioChunk): Promise<void> => {
    while (isOpen() && secondsAhead(buffer, audio) > aheadSeconds) await heard();
    while (isOpen() && !fits(buffer, slice)) await makeRoom();
    if (isOpen()) await updated();
  };

  for await (const piece of pieces) {
    for (const slice of slices(piece)) await append(slice);
    if (!isOpen()) return;
  }
  source.endOfStream();
};

/** Begins to append it; false when the browser has no room for it. */
const fits = (buffer: SourceBuffer, slice: AudioChunk): boolean => {
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

function* slices(piece: AudioChunk): Generator<AudioChunk> {
  for (let at = 0; at < piece.length; at += sliceBytes) yield piece.subarray(at, at + sliceBytes);
}

/** Resolves with the first of the events, or with false when the signal is raised. */
const happens = <Kind extends string>(
  target: { addEventListener(kind: Kind, listener: () => void, options: object): void },
  kinds: readonly Kind[],
  signal: AbortSignal,
): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const settled = new AbortController();
    const settle = (happened: boolean) => (): void => {
      settled.abort();
      resolve(happened);
    };
    for (const kind of kinds) target.addEventListener(kind, settle(true), { signal: settled.signal });
    signal.addEventListener("abort", settle(false), { signal: settled.signal });
  });
