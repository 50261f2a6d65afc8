import { withDeadline } from "../../async/deadline.ts";
import { createSingleFlight } from "../../async/single-flight.ts";
import { sleep } from "../../async/sleep.ts";
import type { Time } from "../../async/time.ts";
import type { AudioReads } from "../../audio/pipeline/audio-reads.ts";
import { hashInName } from "../../audio/store/audio-store.ts";
import { Unavailable } from "../../domain/errors.ts";
import { createConcurrencyLimit } from "../../limits/limit.ts";
import { limits } from "../../limits/limits.ts";
import type { PartSpeaker } from "./part-speaker.ts";

interface PromisedAudioOptions {
  readonly audioReads: Pick<AudioReads, "statAudio">;
  readonly speaker: Pick<PartSpeaker, "ended">;
  readonly time: Time;
}

export type PromisedAudio = ReturnType<typeof createPromisedAudio>;

const maxWaitMs = 30_000;
/** The most requests that wait in this process. */
const maxWaiting = 2_000;
/** Another process may speak the part: only the store says when it has. */
const poll = { firstMs: 100, factor: 1.2, maxMs: 1_000 };

/** Waits for the audio of articles, whichever process speaks it. */
export const createPromisedAudio = ({ audioReads, speaker, time }: PromisedAudioOptions) => {
  const ofClient = createConcurrencyLimit(limits.waiting.atMost);
  const waits = createSingleFlight<void>();
  let waiting = 0;

  const untilStored = async (name: string, signal: AbortSignal): Promise<void> => {
    const hash = hashInName(name) ?? "";
    let wasWaiting = false;
    for (let delayMs: number = poll.firstMs; ; delayMs = Math.min(delayMs * poll.factor, poll.maxMs)) {
      const ended = speaker.ended(hash);
      if (wasWaiting && !ended) throw notReady(); // this process has tried and failed
      wasWaiting = ended !== undefined;
      const pause = new AbortController();
      const slept = sleep(delayMs, { time, signal: AbortSignal.any([signal, pause.signal]) });
      await Promise.race([slept, ...(ended ? [ended] : [])]).finally(() => pause.abort());
      if (await audioReads.statAudio(name, signal)) return;
    }
  };

  return {
    /**
     * Resolves when the audio exists, or if it exists. `client`: undefined for a proxy or CDN,
     * which stands for many clients.
     * @throws {Unavailable} after 30 seconds, or if too many requests wait
     * @throws the signal's reason
     */
    untilReady: async (name: string, client: string | undefined, signal: AbortSignal): Promise<void> => {
      if (await audioReads.statAudio(name, signal)) return;
      const release = client === undefined ? () => {} : ofClient.tryAcquire(client);
      if (!release || waiting >= maxWaiting) {
        release?.();
        throw new Unavailable("Too many requests wait for the audio of articles.", 2);
      }
      waiting++;
      try {
        await withDeadline({ time, ms: maxWaitMs, onTimeout: notReady, signal }, (within) =>
          waits.run(name, (shared) => untilStored(name, shared), within),
        );
      } finally {
        waiting--;
        release();
      }
    },
  };
};

const notReady = (): Unavailable =>
  new Unavailable("The audio is not ready: request the article again, or try again.", 2);
