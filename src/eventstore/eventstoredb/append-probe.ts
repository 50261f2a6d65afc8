import { systemTime, type Time } from "../../async/time.ts";
import { type AppendResult, EventStoreUnavailable } from "../event-store.ts";

const successLastsMs = 2_000;
const overdueMs = 1_000;

export const createAppendProbe = (appendOne: () => Promise<unknown>, time: Time = systemTime) => {
  /** The appends without a response, oldest first. */
  const pending = new Set<{ readonly since: number }>();
  let succeededAt = Number.NEGATIVE_INFINITY;
  let probing: Promise<unknown> | undefined;

  const isHealthy = (): boolean => {
    const now = time.now();
    const [oldest] = pending;
    return now - succeededAt < successLastsMs && (oldest === undefined || now - oldest.since < overdueMs);
  };

  return {
    /** Returns the append's result, and records its outcome. */
    observe: async (append: Promise<AppendResult>): Promise<AppendResult> => {
      const started = { since: time.now() };
      pending.add(started);
      try {
        const result = await append;
        succeededAt = time.now();
        return result;
      } catch (error) {
        if (error instanceof EventStoreUnavailable) succeededAt = Number.NEGATIVE_INFINITY;
        throw error;
      } finally {
        pending.delete(started);
      }
    },
    /**
     * Resolves if appends are possible: one has succeeded recently and none is overdue, or the
     * probe's own append succeeds. The probe appends at most one event in 2 seconds, and none under
     * load.
     * @throws the errors of the probe's append
     */
    check: async (): Promise<void> => {
      if (isHealthy()) return;
      probing ??= appendOne().finally(() => {
        probing = undefined;
      });
      await probing;
      succeededAt = time.now();
    },
  };
};
