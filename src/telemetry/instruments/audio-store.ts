import type { AudioStore } from "../../audio/store/audio-store.ts";
import type { Instruments } from "../meters.ts";
import { withSpan } from "../spans.ts";

export const instrumentAudioStore = (meters: Instruments) => {
  const duration = meters.histogram("audioStoreDuration");

  const timed = async <T>(
    operation: "get" | "put",
    outcomeOf: (answer: T) => string,
    run: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => {
    const began = performance.now();
    const ended = (outcome: string): void =>
      duration((performance.now() - began) / 1_000, { operation, outcome });
    try {
      const answer = await withSpan(`audio store ${operation}`, {}, run, signal);
      ended(outcomeOf(answer));
      return answer;
    } catch (error) {
      ended(signal?.aborted ? "abandoned" : "failed");
      throw error;
    }
  };

  return (store: AudioStore): AudioStore => ({
    ...store,
    get: (name, signal) =>
      timed(
        "get",
        (bytes) => (bytes ? "found" : "absent"),
        () => store.get(name, signal),
        signal,
      ),
    put: (name, bytes) =>
      timed(
        "put",
        () => "stored",
        () => store.put(name, bytes),
      ),
  });
};
