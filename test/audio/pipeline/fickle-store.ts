import {
  type AudioStore,
  AudioStoreUnavailable,
  type ObjectName,
} from "../../../src/audio/store/audio-store.ts";

/** A store that can be put out of order: it refuses, or does not answer at all. */
export interface FickleStore extends AudioStore {
  mood: "well" | "refuses" | "hangs";
  readonly gets: ObjectName[];
  readonly puts: ObjectName[];
}

export const fickle = (store: AudioStore): FickleStore => {
  const answer = async <T>(run: () => Promise<T>): Promise<T> => {
    if (own.mood === "refuses") throw new AudioStoreUnavailable("The audio store refuses.");
    if (own.mood === "hangs") return new Promise<T>(() => undefined);
    return run();
  };
  const own: FickleStore = {
    mood: "well",
    gets: [],
    puts: [],
    get: (name, signal) => {
      own.gets.push(name);
      return answer(() => store.get(name, signal));
    },
    put: (name, bytes) => {
      own.puts.push(name);
      return answer(() => store.put(name, bytes));
    },
    ping: () => answer(() => store.ping()),
    close: () => store.close(),
  };
  return own;
};
