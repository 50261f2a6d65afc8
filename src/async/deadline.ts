import type { Clock } from "./clock.ts";
import { untilAborted } from "./until-aborted.ts";

export { type Clock, systemClock } from "./clock.ts";

const over = new Error("It is over: nothing of it is wanted any more.");

/**
 * What `run` answers, unless `signal` is aborted (then its reason) or so much time passes (then `late()`), whether or
 * not `run` hears its own signal. When this is settled that signal is aborted in any case, so that nothing is left
 * running behind it.
 */
export const withDeadline = async <T>(
  { clock, ms, late, signal }: { clock: Clock; ms: number; late: () => Error; signal?: AbortSignal },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const own = new AbortController();
  const either = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
  either.throwIfAborted();
  const cancel = clock.after(ms, () => own.abort(late()));
  try {
    return await untilAborted(run(either), either);
  } finally {
    cancel();
    own.abort(over);
  }
};
