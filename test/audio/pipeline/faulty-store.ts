import {
  type AudioName,
  type AudioStore,
  AudioStoreUnavailable,
} from "../../../src/audio/store/audio-store.ts";

/** Wraps an audio store so that a test can make it refuse calls or leave them unanswered. */
export interface FaultyStore extends AudioStore {
  mode: "available" | "refuses" | "hangs";
  readonly gets: AudioName[];
  readonly puts: AudioName[];
}

export const withFaults = (store: AudioStore): FaultyStore => {
  const response = async <T>(run: () => Promise<T>): Promise<T> => {
    if (own.mode === "refuses") throw new AudioStoreUnavailable("The audio store refuses the call.");
    if (own.mode === "hangs") return new Promise<T>(() => undefined);
    return run();
  };
  const own: FaultyStore = {
    mode: "available",
    gets: [],
    puts: [],
    get: (name, signal) => {
      own.gets.push(name);
      return response(() => store.get(name, signal));
    },
    stat: (name, signal) => response(() => store.stat(name, signal)),
    read: (name, range, signal) => response(() => store.read(name, range, signal)),
    put: (name, object) => {
      own.puts.push(name);
      return response(() => store.put(name, object));
    },
    touch: (name) => response(() => store.touch(name)),
    list: (signal, folder) => store.list(signal, folder),
    remove: (hash, condition) => response(() => store.remove(hash, condition)),
    ping: () => response(() => store.ping()),
    close: () => store.close(),
  };
  return own;
};
