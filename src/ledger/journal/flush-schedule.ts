import type { Time } from "../../async/time.ts";

/** A longer append mostly waits for a distant store or a slow disk. */
const longAppendMs = 4;
const maxDelayMs = 5;
/**
 * How long a flush waits after a short append, if other processes write too. The timer's smallest
 * step.
 */
const shortDelayMs = 1;
/** After fewer completed servings, the next flush starts at once. */
const minCompleted = 4;

/**
 * From this many servings in progress on, a flush takes half of them: the store writes one half
 * while this process completes the other. If a flush took nearly all of them, this process would
 * often wait for it. Fewer servings are not divided, because each append has a cost.
 */
const minDivided = { afterShortAppend: 32, afterLongAppend: 256 };

/**
 * Decides when the next flush starts, and how many servings it takes. Servings in progress are
 * those that wait and those just completed, whose clients now send their next requests.
 *
 * After a long append the flush waits for these requests. If it started at once, they would wait
 * for two appends: one of the flush before them and one of their own. If other processes write too,
 * it also waits after a short one: they use the processors meanwhile, and each append causes
 * several context switches.
 */
export class FlushSchedule {
  readonly #time: Time;
  readonly #start: () => void;
  readonly #minDivided: typeof minDivided;
  readonly #isAlone: boolean;
  /** The number of servings that the last append completed. */
  #completed = 0;
  #sentAt = 0;
  /** The duration of the last append; zero before the first. */
  #appendMs = 0;
  #delay: { readonly servings: number; readonly stop: () => void } | undefined;

  /**
   * `start` starts a flush whose delay has passed. `processes`: the number of processes on these
   * processors that write to the same store. While one of them waits for its append, the others use
   * the processors.
   */
  constructor(time: Time, start: () => void, processes = 1) {
    this.#time = time;
    this.#start = start;
    this.#isAlone = processes === 1;
    const { afterShortAppend, afterLongAppend } = minDivided;
    this.#minDivided = { afterShortAppend: afterShortAppend * Math.min(processes, 2), afterLongAppend };
  }

  /** The most servings that the next flush takes. */
  maxServings(waiting: number): number {
    const inProgress = waiting + this.#completed;
    const min = this.#isLong ? this.#minDivided.afterLongAppend : this.#minDivided.afterShortAppend;
    return inProgress < min ? inProgress : Math.ceil(inProgress / 2);
  }

  get #isLong(): boolean {
    return this.#appendMs >= longAppendMs;
  }

  /** Call it when a flush was sent. Ends its delay. */
  sent(): void {
    this.#delay?.stop();
    this.#delay = undefined;
    this.#sentAt = this.#time.now();
  }

  /**
   * Call it when the append of that flush has ended. Returns true if it delays the next flush.
   */
  delayNext({ completed, waiting }: { readonly completed: number; readonly waiting: number }): boolean {
    this.#completed = completed;
    this.#appendMs = this.#time.now() - this.#sentAt;
    const servings = this.maxServings(waiting);
    const isDelayed = this.#isLong || (!this.#isAlone && completed >= minCompleted);
    if (!isDelayed || waiting >= servings) return false;
    const delayMs = this.#isLong ? Math.min(this.#appendMs / 2, maxDelayMs) : shortDelayMs;
    const stop = this.#time.after(delayMs, () => {
      this.#delay = undefined;
      this.#start();
    });
    this.#delay = { servings, stop };
    return true;
  }

  /** False as soon as enough servings wait, or the delay has passed. */
  isDelayed(waiting: number): boolean {
    return this.#delay !== undefined && waiting < this.#delay.servings;
  }
}
