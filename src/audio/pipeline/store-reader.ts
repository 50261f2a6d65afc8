import { createCircuitBreaker } from "../../async/circuit-breaker.ts";
import { withDeadline } from "../../async/deadline.ts";
import type { Time } from "../../async/time.ts";
import {
  type AudioInfo,
  type AudioName,
  type AudioPart,
  type AudioStore,
  AudioStoreUnavailable,
  type ByteRange,
  DamagedAudio,
  type StoredAudio,
} from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";

interface StoreReaderOptions extends Pick<PipelineLimits, "readMs" | "readFailureThreshold" | "readResetMs"> {
  readonly store: AudioStore;
  readonly time: Time;
  readonly log: Log;
}

export type StoreReader = ReturnType<typeof createStoreReader>;

/** Reads from the store with a deadline, behind a circuit breaker. */
export const createStoreReader = (options: StoreReaderOptions) => {
  const { store, time, log, readMs: ms } = options;
  const circuit = createCircuitBreaker({
    threshold: options.readFailureThreshold,
    resetMs: options.readResetMs,
    time,
    openError: () => new AudioStoreUnavailable("The audio store failed repeatedly; the circuit is open."),
    onChange: (state) => {
      if (state === "closed") log.info({}, "The audio store can be read again.");
    },
  });
  const onTimeout = () => new AudioStoreUnavailable(`The audio store did not respond within ${ms} ms.`);

  const reportDamage = (name: AudioName): void =>
    log.warn({ object: name }, "An object in the audio store is damaged and treated as missing.");

  /** Returns undefined if there is no such object, or it is damaged. */
  const guarded = async <T>(
    name: AudioName,
    signal: AbortSignal,
    read: (signal: AbortSignal) => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    const call = circuit.start();
    try {
      const found = await withDeadline({ time, ms, onTimeout, signal }, read);
      call.succeeded();
      return found;
    } catch (error) {
      if (error instanceof DamagedAudio) {
        call.succeeded();
        reportDamage(name);
        return undefined;
      }
      if (signal.aborted || !(error instanceof AudioStoreUnavailable)) call.ignored();
      else {
        call.failed(error);
        log.warn({ error: loggableMessage(error) }, "The audio store could not be read.");
      }
      throw error;
    }
  };

  return {
    /**
     * Resolves with the object, or with undefined if there is none or it is damaged.
     * @throws {AudioStoreUnavailable} also for a slow store, and while the circuit is open
     */
    read: (name: AudioName, signal: AbortSignal): Promise<StoredAudio | undefined> =>
      guarded(name, signal, (either) => store.get(name, either)),
    /** Like `read`, but without the bytes. */
    stat: (name: AudioName, signal: AbortSignal): Promise<AudioInfo | undefined> =>
      guarded(name, signal, (either) => store.stat(name, either)),
    /** Like `read`, but only with the bytes of the range, which are not verified. */
    readPart: (name: AudioName, range: ByteRange, signal: AbortSignal): Promise<AudioPart | undefined> =>
      guarded(name, signal, (either) => store.read(name, range, either)),
    reportDamage,
    breaker: circuit.state,
  };
};
