import { lazy } from "../../async/lazy.ts";
import type { StartLimit } from "../../async/scheduler/resource.ts";
import type { Time } from "../../async/time.ts";

const minute = 60_000;

export const loadBottleneck = () => import("bottleneck");

/**
 * Grants at most `perMinute` starts within any 60 seconds. Bottleneck needs about 3 ms to grant one
 * (2.19.5), so `ahead` of them are requested in advance. It cannot remove a queued job, so its jobs
 * belong to no request.
 */
export const createStartLimit = (perMinute: number, ahead: number, time: Time): StartLimit => {
  const open = lazy(async () => new (await loadBottleneck()).default({ reservoir: perMinute }));
  /** The starts of the last minute, the oldest first. */
  const startedAt: number[] = [];
  let granted = 0;
  let requested = 0;
  let onGranted = (): void => {};

  const request = (): void => {
    for (; granted + requested < ahead; requested++) void open().then((limiter) => limiter.schedule(grant));
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
    time.after(oldest + minute - time.now(), () => {
      const current = startedAt.findIndex((at) => at + minute > time.now());
      const expired = startedAt.splice(0, current === -1 ? startedAt.length : current);
      void open().then((limiter) => limiter.incrementReservoir(expired.length));
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
      startedAt.push(time.now());
      if (startedAt.length === 1) refillLater();
      request();
    },
  };
};
