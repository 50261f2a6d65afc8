import type { EspeakRequest } from "../../espeak.ts";
import type { EspeakSpec } from "../../protocol.ts";
import { ToolFailed } from "../../tools.ts";
import type { ToolProcess } from "../exit-failure.ts";
import { type SpeakerProcess, startSpeaker } from "../speaker-process.ts";
import { abandoned, speakOnce } from "../text-job.ts";

const speakerOptions = {
  name: "espeak-ng",
  memoryBytes: 256 * 1024 * 1024,
};

interface Speaker extends SpeakerProcess<EspeakRequest> {
  readonly isReserved: boolean;
}

interface Waiter {
  readonly isUrgent: boolean;
  readonly take: (speaker: Speaker) => void;
}

/**
 * Runs processes with espeak-ng's library, each for one text at a time. If there are several, one
 * is reserved for urgent texts, which then need not wait until a piece of a long text ends. The
 * others have a lower priority than the service. Texts get processes in the order in which they
 * came, urgent texts before others.
 */
export class SpeakerPool {
  readonly #program: URL;
  readonly #most: { readonly reserved: number; readonly shared: number };
  readonly #speakers = new Set<Speaker>();
  readonly #idle = new Set<Speaker>();
  readonly #waiting: Waiter[] = [];

  /** `size`: the largest number of processes. */
  constructor(size: number, program = new URL("./speaker.ts", import.meta.url)) {
    this.#program = program;
    this.#most = { reserved: size > 1 ? 1 : 0, shared: Math.max(1, size - 1) };
  }

  /**
   * Starts the first process. Resolves with the library's version, or undefined if the library
   * cannot be loaded.
   * @throws {ToolFailed} if the process does not start, so that this is unknown
   */
  async start(): Promise<string | undefined> {
    const first = this.#add(this.#most.reserved > 0);
    const version = await first.ready.catch(ifNotLoaded);
    this.#release(first);
    return version;
  }

  acquire({ voice, rate, pitch, volume, ssml, phonemes, lowPriority }: EspeakSpec): ToolProcess {
    return speakOnce(
      (text): EspeakRequest => ({ text, ssml, phonemes, voice, rate, pitch, volume }),
      async (signal) => {
        const speaker = await this.#take(!lowPriority, signal);
        return { speaker, release: () => this.#release(speaker) };
      },
    );
  }

  kill(): void {
    for (const speaker of this.#speakers) speaker.kill();
  }

  #take(isUrgent: boolean, signal: AbortSignal): Promise<Speaker> {
    const speaker = this.#free(isUrgent);
    if (speaker) return Promise.resolve(speaker);
    const { promise, resolve, reject } = Promise.withResolvers<Speaker>();
    const waiter = { isUrgent, take: resolve };
    this.#waiting.push(waiter);
    signal.addEventListener("abort", () => {
      const at = this.#waiting.indexOf(waiter);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(abandoned);
    });
    return promise;
  }

  #free(isUrgent: boolean): Speaker | undefined {
    return isUrgent
      ? (this.#takeIdle(true) ?? this.#takeIdle(false) ?? this.#addIfFewer(true) ?? this.#addIfFewer(false))
      : (this.#takeIdle(false) ?? this.#addIfFewer(false));
  }

  #takeIdle(isReserved: boolean): Speaker | undefined {
    const speaker = this.#idle.values().find((one) => one.isReserved === isReserved);
    if (speaker) this.#idle.delete(speaker);
    return speaker;
  }

  #addIfFewer(isReserved: boolean): Speaker | undefined {
    const running = [...this.#speakers].filter((one) => one.isReserved === isReserved).length;
    const most = isReserved ? this.#most.reserved : this.#most.shared;
    return running < most ? this.#add(isReserved) : undefined;
  }

  #add(isReserved: boolean): Speaker {
    // The priority of a single process is not lowered, because it speaks urgent texts, too.
    const lowPriority = !isReserved && this.#most.reserved > 0;
    const options = { ...speakerOptions, program: this.#program, lowPriority };
    const speaker: Speaker = { ...startSpeaker<EspeakRequest>(options), isReserved };
    this.#speakers.add(speaker);
    void speaker.gone.then(() => {
      this.#speakers.delete(speaker);
      this.#idle.delete(speaker);
      if (this.#nextFor(speaker) >= 0) this.#release(this.#add(isReserved));
    });
    return speaker;
  }

  #release(speaker: Speaker): void {
    if (!this.#speakers.has(speaker)) return;
    const at = this.#nextFor(speaker);
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (next) next.take(speaker);
    else this.#idle.add(speaker);
  }

  /** The position of the text that this process speaks next, or -1. */
  #nextFor({ isReserved }: Speaker): number {
    const urgent = this.#waiting.findIndex(({ isUrgent }) => isUrgent);
    return urgent < 0 && !isReserved && this.#waiting.length > 0 ? 0 : urgent;
  }
}

const ifNotLoaded = (error: unknown): undefined => {
  if (!(error instanceof ToolFailed && error.reason === "library")) throw error;
};
