import { createCircuitBreaker } from "../../async/circuit-breaker.ts";
import type { Clock } from "../../async/clock.ts";
import { withDeadline } from "../../async/deadline.ts";
import {
  type AudioStore,
  AudioStoreUnavailable,
  DamagedObject,
  type ObjectName,
  type StoredObject,
} from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";
import type { PipelineLimits } from "./pipeline-limits.ts";

interface StoreReaderOptions extends Pick<PipelineLimits, "readMs" | "readFailureThreshold" | "readResetMs"> {
  readonly store: AudioStore;
  readonly clock: Clock;
  readonly log: Log;
}

export type StoreReader = ReturnType<typeof createStoreReader>;

/** Reads with a deadline, behind a circuit breaker. */
export const createStoreReader = (options: StoreReaderOptions) => {
  const { store, clock, log, readMs: ms } = options;
  const circuit = createCircuitBreaker({
    threshold: options.readFailureThreshold,
    resetMs: options.readResetMs,
    clock,
    openError: () => new AudioStoreUnavailable("The audio store failed repeatedly; the circuit is open."),
    onChange: (state) => {
      if (state === "closed") log.info({}, "The audio store can be read again.");
    },
  });
  const onTimeout = () => new AudioStoreUnavailable(`The audio store did not answer within ${ms} ms.`);

  return {
    /**
     * The object, or undefined if there is none or it is damaged.
     * @throws {AudioStoreUnavailable} also for a slow store, and while the circuit is open
     */
    read: async (name: ObjectName, signal: AbortSignal): Promise<StoredObject | undefined> => {
      const call = circuit.start();
      try {
        const object = await withDeadline({ clock, ms, onTimeout, signal }, (either) =>
          store.get(name, either),
        );
        call.succeeded();
        return object;
      } catch (error) {
        if (error instanceof DamagedObject) {
          call.succeeded();
          log.warn({ object: name }, "An object in the audio store is damaged and treated as missing.");
          return undefined;
        }
        if (signal.aborted || !(error instanceof AudioStoreUnavailable)) call.ignored();
        else {
          call.failed(error);
          log.warn({ error: loggableMessage(error) }, "The audio store could not be read.");
        }
        throw error;
      }
    },
    breaker: circuit.state,
  };
};
