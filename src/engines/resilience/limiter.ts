import Bottleneck from "bottleneck";
import { backgroundClock, type Clock } from "../../async/clock.ts";
import { Unavailable } from "../../domain/errors.ts";

/** Turns to ask an upstream: so many at once, so many begun in any minute, in order of arrival. */
export interface Limiter {
  /**
   * Answers with what gives the turn back. Who `isContinuation` with a sound that is heard already comes first and waits as
   * long as need be: it cannot ask again later, and there are never more of them than sounds under way.
   * @throws {Unavailable} the queue is full, or no turn came in time; the signal's reason when it is aborted first
   */
  acquire(signal: AbortSignal, asking?: { readonly isContinuation?: boolean }): Promise<() => void>;
  stats(): { readonly taken: number; readonly waiting: number };
}

export interface LimiterOptions {
  /** Turns that are taken at once. */
  readonly concurrency: number;
  /** Turns that are begun in any sixty seconds. */
  readonly perMinute: number;
  /** Who waits at once, if only for a moment: more than `concurrency`. */
  readonly queueLimit: number;
  /** How long anybody waits. */
  readonly queueMs: number;
}

const minute = 60_000;

type Enter = (release: () => void) => void;

/**
 * Bottleneck cannot take a job back out of its queue, and needs some 3 ms to begin one. So its jobs are turns that
 * belong to nobody: a few are begun ahead and lie ready, whoever wants one waits in a queue that can be left, and no
 * more are asked for than somebody wants. Nothing here keeps a process alive; with its last user it is garbage.
 */
export const createLimiter = (limits: LimiterOptions, clock: Clock = backgroundClock): Limiter => {
  const { concurrency, perMinute, queueLimit, queueMs } = limits;
  const limiter = new Bottleneck({ maxConcurrent: concurrency, reservoir: perMinute });
  const ready: (() => void)[] = [];
  const goingOn = new Set<Enter>();
  const beginning = new Set<Enter>();
  /** When the turns of the last minute began, the oldest first. */
  const begunAt: number[] = [];
  let asked = 0;
  let taken = 0;

  const waiting = () => goingOn.size + beginning.size;

  const askAhead = () => {
    while (asked + ready.length < waiting() + concurrency) {
      asked++;
      void limiter.schedule(offer);
    }
  };

  /** A job of bottleneck's: over when the turn is given back. */
  const offer = () =>
    new Promise<void>((release) => {
      asked--;
      const [next] = goingOn.size > 0 ? goingOn : beginning;
      if (next) next(begun(release));
      else ready.push(release);
    });

  /** One timer for all turns, at the end of the oldest one's minute: a timer for each would hold the turn for a minute. */
  const expireLater = () => {
    const [oldest] = begunAt;
    if (oldest === undefined) return;
    clock.after(oldest + minute - clock.now(), () => {
      const over = begunAt.findIndex((at) => at + minute > clock.now());
      const expired = begunAt.splice(0, over === -1 ? begunAt.length : over);
      void limiter.incrementReservoir(expired.length);
      expireLater();
    });
  };

  /** It counts for the minute that follows its beginning: hence never more than `perMinute` in any. */
  const begun = (release: () => void): (() => void) => {
    taken++;
    begunAt.push(clock.now());
    if (begunAt.length === 1) expireLater();
    return once(() => {
      taken--;
      release();
    });
  };

  const wait = (queue: Set<Enter>, signal: AbortSignal): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const done = () => {
        if (cancel) cancel();
        signal.removeEventListener("abort", leave);
        queue.delete(enter);
      };
      const enter: Enter = (release) => {
        done();
        resolve(release);
      };
      const fail = (reason: unknown) => {
        done();
        reject(reason);
      };
      const leave = () => fail(signal.reason);
      const cancel = queue === beginning && clock.after(queueMs, () => fail(tooMuch()));
      signal.addEventListener("abort", leave, { once: true });
      queue.add(enter);
    });

  return {
    acquire: async (signal, { isContinuation = false } = {}) => {
      signal.throwIfAborted();
      const turn = ready.shift();
      if (!turn && !isContinuation && beginning.size >= queueLimit) throw tooMuch();
      const release = turn ? begun(turn) : wait(isContinuation ? goingOn : beginning, signal);
      askAhead();
      return await release;
    },
    stats: () => ({ taken, waiting: waiting() }),
  };
};

const tooMuch = () => new Unavailable("Too much is being asked of the speech provider at once.", 2);

const once = (run: () => void): (() => void) => {
  let ran = false;
  return () => {
    if (ran) return;
    ran = true;
    run();
  };
};
