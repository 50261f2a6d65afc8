interface PlayedPart {
  readonly charIndex: number;
  readonly length: number;
  readonly seconds: number;
}

/** Used until the first part was played. */
const defaultSecondsPerCharacter = 1 / 15;

/**
 * Estimates how long a text takes to be read: the measured time of the parts that were played, and
 * their average speed for the other parts.
 */
export class ReadingTime {
  readonly #parts = new Map<number, PlayedPart>();

  /** Records that a part was played in this time, at normal speed. */
  record(part: PlayedPart): void {
    if (part.length > 0 && part.seconds > 0) this.#parts.set(part.charIndex, part);
  }

  get secondsPerCharacter(): number {
    let [characters, seconds] = [0, 0];
    for (const part of this.#parts.values()) {
      characters += part.length;
      seconds += part.seconds;
    }
    return characters === 0 ? defaultSecondsPerCharacter : seconds / characters;
  }

  /** The time from the start of the text to this character. */
  secondsAt(charIndex: number): number {
    const average = this.secondsPerCharacter;
    let seconds = charIndex * average;
    for (const part of this.#parts.values()) {
      const covered = Math.min(Math.max(charIndex - part.charIndex, 0), part.length);
      seconds += covered * (part.seconds / part.length - average);
    }
    return seconds;
  }

  /** The place that is reached after this time, in a text of this length. */
  charIndexAt(seconds: number, length: number): number {
    let [low, high] = [0, length];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.secondsAt(middle) <= seconds) low = middle;
      else high = middle;
    }
    return low;
  }
}
