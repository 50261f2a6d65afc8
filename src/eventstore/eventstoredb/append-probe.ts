import { type Clock, systemClock } from "../../async/clock.ts";
import { type AppendResult, EventStoreUnavailable } from "../event-store.ts";

/** The driver's own stream, in which subscribers without prefixes do not see events: the last probe alone is kept. */
export const probeStream = "health";

export interface AppendProbe {
  /** Passes an append on, and remembers how it went. */
  observe(append: Promise<AppendResult>): Promise<AppendResult>;
  /**
   * Resolves when an append is possible now: one has just succeeded and none waits for long, or one of the probe's own
   * succeeds. So at most one event is appended in 2 seconds, and none under load.
   * @throws what the probe's own append throws
   */
  check(): Promise<void>;
}

const provenForMs = 2_000;
const overdueMs = 1_000;

export const createAppendProbe = (
  appendOne: () => Promise<unknown>,
  clock: Clock = systemClock,
): AppendProbe => {
  /** When each append was begun that is not answered yet, the oldest first. */
  const unanswered = new Set<{ readonly since: number }>();
  let provenAt = Number.NEGATIVE_INFINITY;
  let probing: Promise<unknown> | undefined;

  const isProven = (): boolean => {
    const now = clock.now();
    const [oldest] = unanswered;
    return now - provenAt < provenForMs && (oldest === undefined || now - oldest.since < overdueMs);
  };

  return {
    observe: async (append) => {
      const begun = { since: clock.now() };
      unanswered.add(begun);
      try {
        const result = await append;
        provenAt = clock.now();
        return result;
      } catch (error) {
        if (error instanceof EventStoreUnavailable) provenAt = Number.NEGATIVE_INFINITY;
        throw error;
      } finally {
        unanswered.delete(begun);
      }
    },
    check: async () => {
      if (isProven()) return;
      probing ??= appendOne().finally(() => {
        probing = undefined;
      });
      await probing;
      provenAt = clock.now();
    },
  };
};
