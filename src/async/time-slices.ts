import { setImmediate } from "node:timers/promises";

const maxSliceMs = 1;
/** A request takes several: it is read, then recorded, then answered. */
const turnsBetween = 4;

/**
 * Passes the items on, and after each millisecond of work on them lets the event loop turn a few times for other tasks. For
 * reads of many events, which would otherwise keep requests waiting.
 */
export async function* inTimeSlices<T>(
  items: Iterable<T>,
  uptime: () => number = () => performance.now(),
): AsyncGenerator<T, void, undefined> {
  let startedAt = uptime();
  for (const item of items) {
    if (uptime() - startedAt >= maxSliceMs) {
      for (let turn = 0; turn < turnsBetween; turn++) await setImmediate();
      startedAt = uptime();
    }
    yield item;
  }
}
