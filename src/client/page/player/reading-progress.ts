import type { PlaybackPosition } from "../../voxledger.ts";
import { ReadingTime } from "./reading-time.ts";

/** The part that is being played. Its place is that in the whole article. */
interface CurrentPart {
  readonly charIndex: number;
  readonly length: number;
  /** The seconds from its beginning that were played, and its duration, at normal speed. */
  seconds: number;
  duration?: number;
  hasEnded: boolean;
}

/** A word on its way through the article. */
interface Word {
  readonly charIndex: number;
  readonly charLength: number;
}

/**
 * How far an article was read. Its clock counts the seconds of audio that were played, whatever
 * they took. Only a seek, and the end of the article, turn it back.
 */
export class ReadingProgress {
  #time = new ReadingTime();
  #length = 0;
  #place = 0;
  #elapsed = 0;
  #part: CurrentPart | undefined;
  #word: Word | undefined;
  /** When the clock has advanced, or audio was expected from then on. */
  #advancedAt = 0;
  #measuredAt = 0;

  /** Estimates are kept as long as the article has the same length. */
  setLength(length: number): void {
    if (length !== this.#length) this.#time = new ReadingTime();
    this.#length = length;
  }

  get charIndex(): number {
    const part = this.#part;
    if (this.#word) return this.#word.charIndex;
    if (!part) return this.#place;
    const duration = part.duration ?? part.length * this.#time.secondsPerCharacter;
    const share = duration > 0 ? Math.min(part.seconds / duration, 1) : 0;
    return part.charIndex + share * part.length;
  }

  /** The spoken word, or the first character of the part if the voice reports no words. */
  get spoken(): Word | undefined {
    return this.#part && (this.#word ?? { charIndex: this.#part.charIndex, charLength: 1 });
  }

  get isInPart(): boolean {
    return this.#part !== undefined;
  }

  /** At normal speed. */
  get seconds(): number {
    return this.#elapsed;
  }

  /** The estimated seconds of the whole article, at normal speed. */
  get totalSeconds(): number {
    const part = this.#part;
    const from = part?.duration === undefined ? this.charIndex : part.charIndex + part.length;
    const inPart = part?.duration === undefined ? 0 : Math.max(part.duration - part.seconds, 0);
    const later = this.#time.secondsAt(this.#length) - this.#time.secondsAt(from);
    return this.#elapsed + inPart + Math.max(later, 0);
  }

  charIndexAt(seconds: number): number {
    return this.#time.charIndexAt(seconds, this.#length);
  }

  /** A seek. Without these seconds, the time of the place is estimated. */
  moveTo(charIndex: number, seconds = this.#time.secondsAt(charIndex)): void {
    this.#part = undefined;
    this.#word = undefined;
    this.#place = charIndex;
    this.#elapsed = seconds;
  }

  /** The place of the next start is the current one. */
  leavePart(): void {
    this.#place = this.charIndex;
    this.#part = undefined;
    this.#word = undefined;
  }

  /** Audio is expected from now on. */
  expectAudio(now: number): void {
    this.#advancedAt = now;
    this.#measuredAt = now;
  }

  /** A part is audible from this offset on. */
  startPart(
    part: { charIndex: number; length: number; startAt: number },
    seconds: number,
    now: number,
  ): void {
    this.#part = { charIndex: part.charIndex, length: part.length, seconds, hasEnded: false };
    this.#word = part.startAt > 0 ? { charIndex: part.charIndex + part.startAt, charLength: 1 } : undefined;
    this.expectAudio(now);
  }

  /** The last measurement was a while ago, so the rest of the part counts, too. */
  endPart(now: number): void {
    const part = this.#part;
    if (!part) return;
    if (part.duration !== undefined) this.#advance(part, part.duration, now);
    part.hasEnded = true;
    this.#word = { charIndex: part.charIndex + part.length, charLength: 0 };
  }

  setWord(word: Word): void {
    this.#word = word;
  }

  /** Counts what was played of the part. */
  measure({ seconds, duration }: PlaybackPosition, now: number): void {
    const part = this.#part;
    if (!part || part.hasEnded) return; // the position may be that of the next part
    if (duration !== undefined && duration !== part.duration) {
      part.duration = duration;
      this.#time.record({ charIndex: part.charIndex, length: part.length, seconds: duration });
    }
    this.#advance(part, seconds, now);
  }

  /** Counts the time since the last measurement, for audio whose position is unknown. */
  measureTime(speed: number, now: number): void {
    const part = this.#part;
    const passed = ((now - this.#measuredAt) / 1_000) * speed;
    this.#measuredAt = now;
    if (part && !part.hasEnded) this.#advance(part, part.seconds + passed, now);
  }

  /** The milliseconds for which the clock has stood still. */
  stoodFor(now: number): number {
    return now - this.#advancedAt;
  }

  #advance(part: CurrentPart, seconds: number, now: number): void {
    if (seconds <= part.seconds) return;
    this.#elapsed += seconds - part.seconds;
    part.seconds = seconds;
    this.#advancedAt = now;
  }
}
