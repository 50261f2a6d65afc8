import { Unavailable } from "../domain/errors.ts";

/** So many at once, so many more in the queue, in order of arrival. */
export interface Slots {
  /**
   * Answers with what gives the slot back.
   * @throws {Unavailable} when the queue is full, or its turn does not come in time; the signal's reason when it is
   * aborted first
   */
  acquire(signal: AbortSignal): Promise<() => void>;
  running(): number;
  queued(): number;
}

export interface SlotsOptions {
  readonly atOnce: number;
  readonly queueLimit: number;
  /** So long one waits for a turn. */
  readonly queueMs: number;
}

const tooMuch = () => new Unavailable("Too much speech is being made at once.", 1);

export const createSlots = ({ atOnce, queueLimit, queueMs }: SlotsOptions): Slots => {
  let running = 0;
  const queue = new Set<() => void>();

  const release = () => {
    const [next] = queue;
    if (!next) {
      running--;
      return;
    }
    next();
  };

  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const done = () => {
        clearTimeout(patience);
        signal.removeEventListener("abort", leave);
        queue.delete(enter);
      };
      const giveUp = () => {
        done();
        reject(tooMuch());
      };
      const leave = () => {
        done();
        reject(signal.reason);
      };
      const enter = () => {
        done();
        resolve();
      };
      const patience = setTimeout(giveUp, queueMs);
      queue.add(enter);
      signal.addEventListener("abort", leave, { once: true });
    });

  return {
    acquire: async (signal) => {
      signal.throwIfAborted();
      if (running < atOnce) running++;
      else if (queue.size < queueLimit) await turn(signal);
      else throw tooMuch();
      return release;
    },
    running: () => running,
    queued: () => queue.size,
  };
};
