import { setTimeout as delay } from "node:timers/promises";
import { Unavailable } from "../domain/errors.ts";
import { type ForkOptions, type HostProcess, startHostProcess } from "./host-process.ts";

/** Delays before the first start, and before each start after a short life. */
const pausesMs = [0, 0, 250, 1000, 5000];
/** After this time a death is not counted as early. */
const goodLifeMs = 60_000;

export type HostSupervisor = ReturnType<typeof superviseHostProcess>;

/**
 * Keeps one helper process running, and starts a new one on demand after it died.
 * `onDeath` is called for each process that ended before `close`.
 */
export const superviseHostProcess = (options: ForkOptions, onDeath: () => void) => {
  const closing = new AbortController();
  let starts = 0;
  let shortLives = 0;
  let host: Promise<HostProcess> | undefined;
  let alive: HostProcess | undefined;

  const start = async (): Promise<HostProcess> => {
    const pause = pausesMs[Math.min(shortLives, pausesMs.length - 1)] ?? 0;
    await delay(pause, undefined, { signal: closing.signal });
    starts++;
    const born = performance.now();
    shortLives++;
    const started = await startHostProcess(options);
    alive = started;
    void started.gone.then(() => {
      if (!closing.signal.aborted) onDeath();
      alive = undefined;
      host = undefined;
      if (performance.now() - born > goodLifeMs) shortLives = 1;
    });
    return started;
  };

  return {
    /** @throws {ToolFailed} it does not start; {Unavailable} after `close` */
    current: async (): Promise<HostProcess> => {
      if (closing.signal.aborted) throw new Unavailable("The service is shutting down.", 1);
      host ??= start().catch((error: unknown) => {
        host = undefined;
        throw error;
      });
      return host;
    },
    stats: () => ({
      restarts: Math.max(0, starts - 1),
      pid: alive?.pid,
      mp3Fallback: alive?.report.mp3Fallback,
    }),
    close: async (): Promise<void> => {
      closing.abort();
      const last = await host?.catch(() => undefined);
      await last?.close();
    },
  };
};
