import { type ChildProcess, fork } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import type { HostOptions, JobSpec, Request, Response } from "./protocol.ts";
import { type RemoteJob, startRemoteJob } from "./remote-job.ts";
import { ToolFailed, type ToolVersions } from "./tools.ts";

/** One life of the helper process. */
export interface HostProcess {
  readonly pid: number;
  readonly versions: ToolVersions;
  start(order: JobSpec, input: AsyncIterable<Buffer>, signal: AbortSignal): RemoteJob;
  /** Answers when the process does. @throws {ToolFailed} it is gone */
  ping(): Promise<void>;
  /** Ends it at once: its jobs fail as those of a process that died. */
  kill(): void;
  /** Answers when the process is gone, and every job of it settled. */
  readonly gone: Promise<void>;
  /** Ends it with all that it started. */
  close(): Promise<void>;
}

export interface ForkOptions extends HostOptions {
  /** Where the tools are looked for: PATH. */
  readonly path: string;
}

const startDeadlineMs = 20_000;
const closeDeadlineMs = 2_000;

/** Answers when the process is ready to work. @throws {ToolFailed} when it does not come to that */
export const startHostProcess = async (options: ForkOptions): Promise<HostProcess> => {
  const child = forkHost(options);
  const jobs = new Map<number, RemoteJob>();
  const dead = new ToolFailed("helper", "The process that runs the speech tools has ended.");
  let pong = awaitPong();
  let ended = false;
  let nextJob = 0;

  const gone = new Promise<void>((resolve) => {
    const end = () => {
      killOrphans(child);
      ended = true;
      pong.reject(dead);
      for (const job of jobs.values()) job.settle(dead);
      jobs.clear();
      resolve();
    };
    child.once("exit", end).once("error", end);
  });

  const send = (request: Request): void => {
    if (child.connected) child.send(request, undefined, {}, () => undefined);
  };

  const settle = (job: number, failure?: ToolFailed): void => {
    jobs.get(job)?.settle(failure);
    jobs.delete(job);
  };

  const ready = Promise.withResolvers<ToolVersions>();
  child.on("message", (response: Response) => {
    switch (response.type) {
      case "ready":
        return ready.resolve(response.versions);
      case "pong":
        pong.resolve();
        pong = awaitPong();
        return;
      case "output":
        return jobs.get(response.job)?.received(response.bytes);
      case "written":
        return jobs.get(response.job)?.written(response.bytes);
      case "done":
        return settle(response.job);
      case "failed":
        return settle(response.job, new ToolFailed(response.reason, response.message));
    }
  });

  const tooLate = setTimeout(() => child.kill("SIGKILL"), startDeadlineMs);
  void gone.then(() =>
    ready.reject(new ToolFailed("helper", "The process that runs the speech tools did not start.")),
  );
  const versions = await ready.promise.finally(() => clearTimeout(tooLate));

  return {
    pid: child.pid ?? 0,
    versions,
    start: (order, input, signal) => {
      const id = nextJob++;
      const job = startRemoteJob(id, order, input, signal, send);
      if (ended) job.settle(dead);
      else jobs.set(id, job);
      return job;
    },
    ping: () => {
      send({ type: "ping" });
      return pong.promise;
    },
    kill: () => child.kill("SIGKILL"),
    gone,
    close: async () => {
      const stuck = setTimeout(() => child.kill("SIGKILL"), closeDeadlineMs);
      if (child.connected) child.disconnect();
      await gone;
      clearTimeout(stuck);
    },
  };
};

/** Who waits hears of a failure; with nobody waiting it must not end the service. */
const awaitPong = (): PromiseWithResolvers<void> => {
  const pong = Promise.withResolvers<void>();
  pong.promise.catch(() => undefined);
  return pong;
};

/**
 * No secret of the service's environment goes along, and no directory of its own. A session of its own: the terminal's
 * Ctrl-C is for the service alone, which lets the work in hand end first.
 */
const forkHost = ({ path, encodersAhead }: ForkOptions): ChildProcess =>
  fork(new URL("./host/main.ts", import.meta.url), [JSON.stringify({ encodersAhead })], {
    serialization: "advanced",
    detached: true,
    cwd: "/",
    env: { PATH: path, LANG: "C.UTF-8", MALLOC_ARENA_MAX: "2", ...compileCache() },
    // It moves bytes between pipes: a young generation of 3 × 16 MB or more would only fill with garbage.
    execArgv: ["--max-semi-space-size=4"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });

/** The service's own, so that the helper finds its types stripped. */
const compileCache = (): { readonly NODE_COMPILE_CACHE?: string } => {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
};

/** The helper leads a process group: what it left behind when it was killed is still in it. */
const killOrphans = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Nothing was left.
  }
};
