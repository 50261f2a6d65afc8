import { untilAborted } from "./until-aborted.ts";

/** One piece of work for each key at a time, shared by all who ask for it while it is being done. */
export interface SingleFlight<T> {
  /**
   * Joins the work under way for the key, or starts it and is its leader. A failure is told to all who wait and is
   * not remembered. Who is aborted leaves at once with the signal's reason; the work is aborted (with the reason of
   * the last one) when nobody waits for it any more, and whoever asks from then on starts anew.
   */
  run(
    key: string,
    start: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ value: T; leader: boolean }>;
  /** How many are under way and wanted. */
  size(): number;
}

interface Flight<T> {
  readonly landing: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

export interface SingleFlightOptions {
  /** How many may be under way at once; no bound when nothing is said. */
  readonly max?: number;
  /** What the next one is told. */
  readonly full?: () => Error;
}

export const createSingleFlight = <T>(options: SingleFlightOptions = {}): SingleFlight<T> => {
  const { max = Number.POSITIVE_INFINITY, full = () => new Error("Too much is under way.") } = options;
  const flying = new Map<string, Flight<T>>();

  const gone = (key: string, controller: AbortController): void => {
    if (flying.get(key)?.controller === controller) flying.delete(key);
  };

  const takeOff = (key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    if (flying.size >= max) throw full();
    const controller = new AbortController();
    // Gone before anybody hears how it ended: who asks after a failure must not be told of it.
    const fly = async (): Promise<T> => {
      try {
        controller.signal.throwIfAborted();
        return await start(controller.signal);
      } finally {
        gone(key, controller);
      }
    };
    const flight = { landing: Promise.resolve().then(fly), controller, waiting: 0 };
    flying.set(key, flight);
    return flight;
  };

  return {
    run: async (key, start, signal) => {
      signal.throwIfAborted();
      const joined = flying.get(key);
      const flight = joined ?? takeOff(key, start);
      flight.waiting++;
      try {
        return { value: await untilAborted(flight.landing, signal), leader: joined === undefined };
      } finally {
        flight.waiting--;
        if (flight.waiting === 0 && flying.get(key) === flight) {
          gone(key, flight.controller);
          flight.controller.abort(signal.reason);
        }
      }
    },
    size: () => flying.size,
  };
};
