import { createCircuitBreaker } from "../../async/circuit-breaker.ts";
import type { Clock } from "../../async/clock.ts";
import { withDeadline } from "../../async/deadline.ts";
import { formatOf } from "../../domain/synthesis/formats.ts";
import { isTruncated } from "../formats/containers.ts";
import { type AudioStore, AudioStoreUnavailable, type ObjectName } from "../store/audio-store.ts";
import { type Log, loggableMessage } from "./log.ts";

/** Reads with a deadline, behind a circuit breaker. */
export interface StoreReader {
  /**
   * The object, or undefined if there is none or it is truncated.
   * @throws {AudioStoreUnavailable} also for a slow store, and while the circuit is open
   */
  read(name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined>;
  breaker(): "closed" | "open";
}

export interface StoreReaderOptions {
  readonly store: AudioStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs: number;
  readonly breaker: { readonly threshold: number; readonly resetMs: number };
}

export const createStoreReader = (options: StoreReaderOptions): StoreReader => {
  const { store, clock, log, timeoutMs, breaker } = options;
  const circuit = createCircuitBreaker({
    ...breaker,
    clock,
    openError: () => new AudioStoreUnavailable("The audio store failed repeatedly; the circuit is open."),
    onChange: (state) => {
      if (state === "closed") log.info({}, "The audio store can be read again.");
    },
  });
  const onTimeout = () => new AudioStoreUnavailable(`The audio store did not answer within ${timeoutMs} ms.`);

  const get = async (name: ObjectName, signal: AbortSignal): Promise<Buffer | undefined> => {
    const call = circuit.start();
    try {
      const bytes = await withDeadline({ clock, ms: timeoutMs, onTimeout, signal }, (either) =>
        store.get(name, either),
      );
      call.succeeded();
      return bytes;
    } catch (error) {
      if (signal.aborted || !(error instanceof AudioStoreUnavailable)) call.ignored();
      else {
        call.failed(error);
        log.warn({ error: loggableMessage(error) }, "The audio store could not be read.");
      }
      throw error;
    }
  };

  return {
    read: async (name, signal) => {
      const bytes = await get(name, signal);
      if (!bytes || !isTruncated(formatOf(name), bytes)) return bytes;
      log.warn({ object: name }, "An object in the audio store is truncated and treated as missing.");
      return undefined;
    },
    breaker: circuit.state,
  };
};
