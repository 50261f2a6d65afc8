import { setImmediate } from "node:timers/promises";
import { systemTime, type Time } from "./time.ts";

const sliceMs = 1;
/**
 * The number of turns of the event loop in a pause. A request takes several: one to be read, one to
 * be recorded and one for its response.
 */
const turnsBetween = 4;
/**
 * Each reader gets this many items without waiting, so that the short reads of requests do not wait
 * for long ones.
 */
const freeItems = 16;

/** Creates a separate `inTimeSlices`, for tests. All other callers share the one below. */
export const createTimeSlices = (time: Pick<Time, "now"> = systemTime) => {
  /** When the work of this turn of the event loop began; undefined if none was done yet. */
  let startedAt: number | undefined;
  let pause: Promise<void> | undefined;

  const endWithTurn = async (): Promise<void> => {
    await setImmediate();
    startedAt = undefined;
  };
  const isOver = (): boolean => {
    if (pause !== undefined) return true;
    if (startedAt === undefined) {
      startedAt = time.now();
      void endWithTurn();
    }
    return time.now() - startedAt >= sliceMs;
  };
  const takePause = async (): Promise<void> => {
    for (let turn = 0; turn < turnsBetween; turn++) await setImmediate();
    pause = undefined;
  };

  return async function* inTimeSlices<T>(
    items: Iterable<T>,
    signal?: AbortSignal,
  ): AsyncGenerator<T, void, undefined> {
    let free = freeItems;
    for (const item of items) {
      while (free-- <= 0 && isOver()) {
        pause ??= takePause();
        await pause;
        signal?.throwIfAborted();
      }
      yield item;
    }
  };
};

/**
 * Passes the items on. After each millisecond of work on items, the event loop turns a few times
 * for other tasks: reads of many events and passes over many keys would otherwise keep requests
 * waiting. All callers share the milliseconds; each may work on one item more than that.
 * @throws the signal's reason, only after such a pause
 */
export const inTimeSlices = createTimeSlices();
