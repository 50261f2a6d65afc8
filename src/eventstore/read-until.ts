import { exponentialBackoff, retry } from "../async/retry.ts";
import type { WaitOptions } from "../async/sleep.ts";

const delayMs = { firstMs: 5, maxMs: 160 };
/**
 * These reads and the pauses between them take about 6 s. Under load EventStoreDB indexes an event
 * after 12 ms (median; 200 ms at most).
 */
const maxReads = 40;

/**
 * Reads until the result shows events that are known to be stored: a conflict or a subscription may
 * report an event before reads show it. Resolves with the last result in any case, because in a
 * cluster an event may be lost with its leader.
 */
export const readUntil = <T>(
  isVisible: (result: T) => boolean,
  wait: WaitOptions,
  read: () => Promise<T>,
): Promise<T> =>
  retry(
    {
      ...wait,
      delayAfter: (outcome, attempt) =>
        "value" in outcome && !isVisible(outcome.value) && attempt < maxReads
          ? exponentialBackoff(delayMs, attempt)
          : undefined,
    },
    read,
  );
