import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { errorMessage, Unavailable } from "../domain/errors.ts";
import { type ProcessEnd, processEndOf } from "../domain/process-end.ts";
import { type ForkOptions, type HostProcess, type Ready, startHostProcess } from "./host-process.ts";
import { ToolFailed } from "./tools.ts";

/** Delays before the first start, and before each start after a short life. */
const pausesMs = [0, 0, 250, 1000, 5000];
/** The end of a process that has lived for longer does not count as early. */
const goodLifeMs = 60_000;

/** Reports a sentence, and how the process ended that it is about. */
export type Warn = (sentence: string, end: ProcessEnd) => void;

export type HostSupervisor = ReturnType<typeof superviseHostProcess>;

const deathNote = "The process that runs the speech tools has ended: the next use starts another.";

/**
 * Keeps one helper process running, and starts a new one on demand after it died. Reports each
 * process that ended before `close`, and each that could not be replaced.
 */
export const superviseHostProcess = (
  options: ForkOptions,
  warn: Warn,
  startProcess: (options: ForkOptions, signal: AbortSignal) => Promise<HostProcess> = startHostProcess,
) => {
  const closing = new AbortController();
  let starts = 0;
  let shortLives = 0;
  let first: Ready | undefined;
  let host: Promise<HostProcess> | undefined;
  let alive: HostProcess | undefined;

  const start = async (): Promise<HostProcess> => {
    const pause = pausesMs[Math.min(shortLives, pausesMs.length - 1)] ?? 0;
    if (pause > 0) await delay(pause, undefined, { signal: closing.signal });
    starts++;
    const born = performance.now();
    shortLives++;
    const started = await startProcess(options, closing.signal);
    first ??= started.report;
    const change = changeSince(first, started.report);
    if (change !== undefined) {
      await started.close();
      throw new ToolFailed("helper", change);
    }
    alive = started;
    void started.gone.then((end) => {
      if (!closing.signal.aborted) warn(deathNote, end);
      alive = undefined;
      host = undefined;
      if (performance.now() - born > goodLifeMs) shortLives = 1;
    });
    return started;
  };

  return {
    /**
     * Resolves with the process, which is started if none is running.
     * @throws {ToolFailed} if the process does not start
     * @throws {Unavailable} after `close`
     */
    current: async (): Promise<HostProcess> => {
      if (closing.signal.aborted) throw new Unavailable("The service is shutting down.", 1);
      host ??= start().catch((error: unknown) => {
        host = undefined;
        if (first && !closing.signal.aborted) warn(errorMessage(error), processEndOf(error));
        throw error;
      });
      return host;
    },
    stats: () => ({
      restarts: Math.max(0, starts - 1),
      pid: alive?.pid,
      encoderFallback: alive?.report.encoderFallback,
    }),
    /** Ends the process. One that is still starting is killed. */
    close: async (): Promise<void> => {
      closing.abort();
      const last = await host?.catch(() => undefined);
      await last?.close();
    },
  };
};

/**
 * Returns why a later process cannot replace the first one; undefined if it can. The service relies
 * on the tools of the first process: recipes contain their versions, and audio that espeak-ng's
 * library speaks is stored with marks.
 */
const changeSince = (first: Ready, later: Ready): string | undefined => {
  if (!isDeepStrictEqual(later.versions, first.versions)) {
    return "The speech tools are not those that were found when the service started: if they have been updated, restart the service.";
  }
  if (first.espeak === "library" && later.espeak !== "library") {
    return "The library of espeak-ng can no longer be used: the next use tries again. If it has been removed or updated, restart the service.";
  }
  return undefined;
};
