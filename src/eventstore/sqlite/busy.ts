const SQLITE_BUSY = 5;
/** Shorter than a command waits: a lock held for long is told of while somebody still listens. */
const patienceMs = 3_000;
const pauseMs = 1;
const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Runs a statement again while another process holds the lock, for at most three seconds; blocks its thread. SQLite's own
 * waiting is kept short, because it grows lazier with every attempt and would lose every race
 * against a busy neighbour.
 */
export const retryWhileBusy = <T>(statement: () => T): T => {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return statement();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(never, 0, 0, pauseMs);
    }
  }
};

const isBusy = (error: unknown): boolean =>
  (((error as { errcode?: number }).errcode ?? 0) & 0xff) === SQLITE_BUSY;
