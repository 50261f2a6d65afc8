import Bottleneck from "bottleneck";
import type { Clock } from "../../async/clock.ts";
import type { StartLimit } from "../../async/scheduler/resource.ts";

const minute = 60_000;

/**
 * Grants at most `perMinute` starts within any 60 seconds. Bottleneck needs about 3 ms to grant one
 * (2.19.5), so `ahead` of them are requested in advance. It cannot remove a queued job, so its jobs
 * belong to no request.
 */
export const createStartLimit = (perMinute: number, ahead: number, clock: Clock): StartLimit => {
  const limiter = new Bottleneck({ reservoir: perMinute });
  /** The starts of the last minute, the oldest first. */
  const startedAt: number[] = [];
  let granted = 0;
  let requested = 0;
  let onGranted = (): void => {};

  const request = (): void => {
    for (; granted + requested < ahead; requested++) void limiter.schedule(grant);
  };

  const grant = async (): Promise<void> => {
    requested--;
    granted++;
    onGranted();
  };

  /** One timer for all starts: a timer for each would live for a minute. */
  const refillLater = (): void => {
    const [oldest] = startedAt;
    if (oldest === undefined) return;
    clock.after(oldest + minute - clock.now(), () => {
      const current = startedAt.findIndex((at) => at + minute > clock.now());
      const expired = startedAt.splice(0, current === -1 ? startedAt.length : current);
      void limiter.incrementReservoir(expired.length);
      refillLater();
    });
  };

  request();
  return {
    mustWait: (retry) => {
      onGranted = retry;
      return granted === 0;
    },
    started: () => {
      granted--;
      startedAt.push(clock.now());
      if (startedAt.length === 1) refillLater();
      request();
    },
  };
};
