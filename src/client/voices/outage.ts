import type { VoxledgerError } from "../errors.ts";

export interface OutageOptions {
  readonly now: () => number;
  /** Resolves with true if the service responds and is healthy. */
  readonly isHealthy: () => Promise<boolean>;
  /** True while the browser has no network. */
  readonly isOffline: () => boolean;
  /** Resolves when the browser has a network again; rejects when the signal is aborted. */
  readonly untilOnline: (signal: AbortSignal) => Promise<void>;
}

/** A time in which the service cannot speak. */
export interface Outage {
  readonly failure: VoxledgerError;
  /** True if a request may succeed again. Otherwise the next call may know it. */
  isOver(signal: AbortSignal): boolean;
  /** @throws {VoxledgerError} which is the failure, at once unless the browser is offline */
  untilOnline(signal: AbortSignal): Promise<void>;
}

/** An outage that outlasts the speech. */
export const lastingOutage = (failure: VoxledgerError): Outage => ({
  failure,
  isOver: () => false,
  untilOnline: async () => {
    throw failure;
  },
});

/**
 * A refusal ends after its `Retry-After`, and a lost connection when the service can be reached.
 * Any other failure is expected to last: it would interrupt the speech again.
 */
export const startOutage = (
  failure: VoxledgerError,
  { now, isHealthy, isOffline, untilOnline }: OutageOptions,
): Outage => {
  const { code, status, retryAfterSeconds } = failure;
  const startedAt = now();
  const isLost = status === undefined && (code === "NETWORK" || code === "TIMEOUT");
  let isReachable = false;
  let isProbing = false;
  const probe = async (signal: AbortSignal): Promise<void> => {
    if (isProbing) return;
    isProbing = true;
    try {
      if (isOffline()) await untilOnline(signal);
      isReachable = await isHealthy();
    } catch {
      // the speech was cancelled
    }
    isProbing = false;
  };
  return {
    failure,
    isOver: (signal) => {
      if (retryAfterSeconds !== undefined) return now() - startedAt >= retryAfterSeconds * 1_000;
      if (isLost && !isReachable) void probe(signal);
      return isReachable;
    },
    untilOnline: async (signal) => {
      if (!isLost || !isOffline()) throw failure;
      await untilOnline(signal);
    },
  };
};
