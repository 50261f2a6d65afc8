import { untilAborted, withDeadline } from "../../async/deadline.ts";
import { createSingleFlight } from "../../async/single-flight.ts";
import { sleep } from "../../async/sleep.ts";
import type { Time } from "../../async/time.ts";
import type { AudioReads } from "../../audio/pipeline/audio-reads.ts";
import type { StreamedAudio } from "../../audio/pipeline/pipeline.ts";
import { hashInName } from "../../audio/store/audio-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import { createConcurrencyLimit, type Limit } from "../../limits/limit.ts";
import { limits } from "../../limits/limits.ts";
import type { PartSpeaker } from "./part-speaker.ts";

interface PromisedAudioOptions {
  readonly audioReads: Pick<AudioReads, "statAudio">;
  readonly speaker: Pick<PartSpeaker, "begun" | "ended" | "stream">;
  readonly time: Time;
}

export type { StreamedAudio };

interface PromisedRequest {
  readonly name: string;
  /** Undefined for a proxy or CDN, which stands for many clients. */
  readonly client: string | undefined;
  readonly signal: AbortSignal;
}

export type PromisedAudio = ReturnType<typeof createPromisedAudio>;

const maxWaitMs = 30_000;
/**
 * The most requests that wait in this process for parts that it speaks itself, and the most that
 * wait for others. The latter may be requests for audio that was removed, whose addresses are still
 * signed: they must not take the places of a page's readers.
 */
const maxWaiting = 1_000;
/** Another process may speak the part: only the store says when it has. */
const poll = { firstMs: 100, factor: 1.2, maxMs: 1_000 };

/** Waits for the audio of articles, whichever process speaks it. */
export const createPromisedAudio = ({ audioReads, speaker, time }: PromisedAudioOptions) => {
  const ofClient = createConcurrencyLimit(limits.waiting.atMost);
  const inAll = createConcurrencyLimit(maxWaiting);
  const waits = createSingleFlight<void>();

  const untilStored = async (name: string, signal: AbortSignal): Promise<void> => {
    const hash = hashInName(name) ?? "";
    let wasWaiting = false;
    for (let delayMs: number = poll.firstMs; ; delayMs = Math.min(delayMs * poll.factor, poll.maxMs)) {
      const ended = speaker.ended(hash);
      wasWaiting ||= ended !== undefined;
      const pause = new AbortController();
      const slept = sleep(delayMs, { time, signal: AbortSignal.any([signal, pause.signal]) });
      await Promise.race([slept, ...(ended ? [ended] : [])]).finally(() => pause.abort());
      // The part may end while the store is read, which then may not have it yet.
      const hasEnded = wasWaiting && speaker.ended(hash) === undefined;
      if (await audioReads.statAudio(name, signal)) return;
      if (hasEnded) throw notReady(); // this process has tried and failed
    }
  };

  /** Runs the task while the request counts as waiting, for at most 30 seconds. */
  const whileWaiting = async <T>(
    { name, client, signal }: PromisedRequest,
    task: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    using acquired = new DisposableStack();
    const acquire = (limit: Limit, key: string): void => {
      const release = limit.tryAcquire(key);
      if (!release) throw new Unavailable("Too many requests wait for the audio of articles.", 2);
      acquired.defer(release);
    };
    if (client !== undefined) acquire(ofClient, client);
    acquire(inAll, speaker.ended(hashInName(name) ?? "") ? "spoken here" : "others");
    return await withDeadline({ time, ms: maxWaitMs, onTimeout: notReady, signal }, task);
  };

  /** The stream outlasts the wait, unless the wait ends before its first bytes. */
  const beginStream = async (
    hash: string,
    signal: AbortSignal,
    within: AbortSignal,
  ): Promise<StreamedAudio | undefined> => {
    const late = new AbortController();
    const streamed = speaker.stream(hash, AbortSignal.any([signal, late.signal]));
    try {
      return await untilAborted(streamed, within);
    } catch (error) {
      late.abort(error);
      throw error;
    }
  };

  return {
    /**
     * Resolves when the audio exists.
     * @throws {Unavailable} after 30 seconds, or if too many requests wait
     * @throws the signal's reason
     */
    untilReady: async (request: PromisedRequest): Promise<void> => {
      const { name, signal } = request;
      if (await audioReads.statAudio(name, signal)) return;
      const wait = (within: AbortSignal) => waits.run(name, (shared) => untilStored(name, shared), within);
      await whileWaiting(request, wait);
    },
    /**
     * Resolves with the audio as soon as its first bytes exist, if this process speaks it.
     * Otherwise does what `untilReady` does, and resolves with undefined.
     * @throws as `untilReady`
     */
    begin: async (request: PromisedRequest): Promise<StreamedAudio | undefined> => {
      const { name, signal } = request;
      if (await audioReads.statAudio(name, signal)) return undefined;
      const hash = hashInName(name) ?? "";
      return await whileWaiting(request, async (within) => {
        const stored = waits.run(name, (shared) => untilStored(name, shared), within);
        stored.catch(() => {}); // it is left as soon as the audio is streamed
        const begun = speaker.begun(hash);
        await Promise.race([stored, ...(begun ? [begun] : [])]);
        const streamed = begun && (await beginStream(hash, signal, within));
        if (!streamed) await stored;
        return streamed;
      });
    },
  };
};

const notReady = (): Unavailable =>
  new Unavailable("The audio is not ready: request the article again, or try again.", 2);
