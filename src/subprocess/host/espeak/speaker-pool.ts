import type { EspeakOrder } from "../../espeak.ts";
import type { EspeakSpec } from "../../protocol.ts";
import type { ToolProcess } from "../exit-failure.ts";
import { type SpeakerProcess, startSpeaker } from "../speaker-process.ts";
import { abandoned, speakOnce } from "../text-job.ts";

/**
 * Processes with espeak-ng's library, each for one text at a time. One of several is reserved for urgent texts, which need
 * not wait until a piece of a long one ends; the others have a lower priority than the service. Texts wait in order, urgent
 * ones before others.
 */
export interface SpeakerPool {
  /** The library's version. */
  readonly version: string;
  acquire(order: EspeakSpec): ToolProcess;
  kill(): void;
}

const speakerOptions = {
  name: "espeak-ng",
  program: new URL("./speaker.ts", import.meta.url),
  memoryBytes: 256 * 1024 * 1024,
};

interface Speaker extends SpeakerProcess<EspeakOrder> {
  readonly isReserved: boolean;
}

/** `size`: processes at most; the first is started now. @throws {ToolFailed} the library cannot be loaded */
export const openSpeakerPool = async (size: number): Promise<SpeakerPool> => {
  const speakers = new Set<Speaker>();
  const idle = new Set<Speaker>();
  const waiting: { readonly isUrgent: boolean; readonly take: (speaker: Speaker) => void }[] = [];
  const most = { reserved: size > 1 ? 1 : 0, shared: size > 1 ? size - 1 : 1 };

  const add = (isReserved: boolean): Speaker => {
    // A single process speaks urgent texts too.
    const lowPriority = !isReserved && size > 1;
    const speaker: Speaker = { ...startSpeaker<EspeakOrder>({ ...speakerOptions, lowPriority }), isReserved };
    speakers.add(speaker);
    void speaker.gone.then(() => {
      speakers.delete(speaker);
      idle.delete(speaker);
      if (nextFor(speaker) >= 0) release(add(isReserved));
    });
    return speaker;
  };
  /** The position of the text that this process speaks next, or -1. */
  const nextFor = ({ isReserved }: Speaker): number => {
    const urgent = waiting.findIndex(({ isUrgent }) => isUrgent);
    return urgent < 0 && !isReserved && waiting.length > 0 ? 0 : urgent;
  };
  const release = (speaker: Speaker): void => {
    if (!speakers.has(speaker)) return;
    const at = nextFor(speaker);
    const [next] = at < 0 ? [] : waiting.splice(at, 1);
    if (next) next.take(speaker);
    else idle.add(speaker);
  };
  const takeIdle = (isReserved: boolean): Speaker | undefined => {
    const speaker = [...idle].find((one) => one.isReserved === isReserved);
    if (speaker) idle.delete(speaker);
    return speaker;
  };
  const addIfFewer = (isReserved: boolean): Speaker | undefined => {
    const running = [...speakers].filter((one) => one.isReserved === isReserved).length;
    return running < (isReserved ? most.reserved : most.shared) ? add(isReserved) : undefined;
  };
  const free = (isUrgent: boolean): Speaker | undefined =>
    isUrgent
      ? (takeIdle(true) ?? takeIdle(false) ?? addIfFewer(true) ?? addIfFewer(false))
      : (takeIdle(false) ?? addIfFewer(false));

  const take = (isUrgent: boolean, signal: AbortSignal): Promise<Speaker> => {
    const speaker = free(isUrgent);
    if (speaker) return Promise.resolve(speaker);
    const { promise, resolve, reject } = Promise.withResolvers<Speaker>();
    const place = { isUrgent, take: resolve };
    waiting.push(place);
    signal.addEventListener("abort", () => {
      const at = waiting.indexOf(place);
      if (at < 0) return;
      waiting.splice(at, 1);
      reject(abandoned);
    });
    return promise;
  };

  const first = add(most.reserved > 0);
  const version = await first.ready;
  release(first);
  return {
    version,
    acquire: ({ voice, rate, pitch, volume, ssml, lowPriority }) =>
      speakOnce(
        (text): EspeakOrder => ({ text, ssml, voice, rate, pitch, volume }),
        async (signal) => {
          const speaker = await take(!lowPriority, signal);
          return { speaker, release: () => release(speaker) };
        },
      ),
    kill: () => {
      for (const speaker of speakers) speaker.kill();
    },
  };
};
