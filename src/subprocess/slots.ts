import { Unavailable } from "../domain/errors.ts";

/** So many at once, so many more in the queue, in order of arrival. */
export interface Slots {
  /**
   * Answers with what gives the slot back.
   * @throws {Unavailable} when the queue is full; the signal's reason when it is aborted first
   */
  acquire(signal: AbortSignal): Promise<() => void>;
  running(): number;
  queued(): number;
}

export const createSlots = (atOnce: number, queueLimit: number): Slots => {
  let running = 0;
  const queue = new Set<() => void>();

  const release = () => {
    const [next] = queue;
    if (!next) {
      running--;
      return;
    }
    queue.delete(next);
    next();
  };

  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        queue.delete(enter);
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      queue.add(enter);
      signal.addEventListener("abort", leave, { once: true });
    });

  return {
    acquire: async (signal) => {
      signal.throwIfAborted();
      if (running < atOnce) running++;
      else if (queue.size < queueLimit) await turn(signal);
      else throw new Unavailable("Too much speech is being made at once.", 1);
      return release;
    },
    running: () => running,
    queued: () => queue.size,
  };
};
