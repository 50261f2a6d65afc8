import { untilAborted } from "./deadline.ts";

export type SingleFlight<T> = ReturnType<typeof createSingleFlight<T>>;

export interface SingleFlightOptions {
  /** The most tasks that may run at once. Default: no limit. */
  readonly max?: number;
  readonly full?: () => Error;
}

interface Flight<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  callers: number;
}

/** Runs at most one task per key at a time; concurrent callers share its result. */
export const createSingleFlight = <T>(options: SingleFlightOptions = {}) => {
  const { max = Number.POSITIVE_INFINITY, full = () => new Error("Too many tasks are running.") } = options;
  const flights = new Map<string, Flight<T>>();

  const forget = (key: string, controller: AbortController): void => {
    if (flights.get(key)?.controller === controller) flights.delete(key);
  };

  const begin = (key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> => {
    if (flights.size >= max) throw full();
    const controller = new AbortController();
    // The task is forgotten before its callers see the result: the next caller must not join a task
    // that has failed.
    const run = async (): Promise<T> => {
      try {
        controller.signal.throwIfAborted();
        return await start(controller.signal);
      } finally {
        forget(key, controller);
      }
    };
    const flight = { result: Promise.resolve().then(run), controller, callers: 0 };
    flights.set(key, flight);
    return flight;
  };

  return {
    /**
     * Joins the running task of the key, or starts it (`leader`). A failure goes to all callers and
     * is not cached. A caller that aborts leaves at once with its signal's reason; when the last
     * one leaves, the task is aborted with that reason.
     * @throws `full()` if `max` tasks are running
     */
    run: async (key: string, start: (signal: AbortSignal) => Promise<T>, signal: AbortSignal) => {
      signal.throwIfAborted();
      const joined = flights.get(key);
      const flight = joined ?? begin(key, start);
      flight.callers++;
      try {
        return { value: await untilAborted(flight.result, signal), leader: joined === undefined };
      } finally {
        flight.callers--;
        if (flight.callers === 0 && flights.get(key) === flight) {
          forget(key, flight.controller);
          flight.controller.abort(signal.reason);
        }
      }
    },
    /** Returns the number of running tasks that somebody waits for. */
    size: (): number => flights.size,
  };
};
