import { untilAborted } from "../until-aborted.ts";

/** Time as the audio parts know it: milliseconds that never run backwards, from any beginning. */
export interface Clock {
  now(): number;
  /** Runs it once, so many milliseconds from now, unless the answer is called before. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

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
