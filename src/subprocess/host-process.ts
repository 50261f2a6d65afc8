import { type ChildProcess, fork } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import type { HostOptions, JobSpec, Request, Response } from "./protocol.ts";
import { type RemoteJob, startRemoteJob } from "./remote-job.ts";
import { ToolFailed } from "./tools.ts";

export interface ForkOptions extends HostOptions {
  /** PATH of the tools. */
  readonly path: string;
}

const startDeadlineMs = 20_000;
const closeDeadlineMs = 2_000;

export type HostProcess = Awaited<ReturnType<typeof startHostProcess>>;

/**
 * One helper process.
 * Resolves when the process is ready. @throws {ToolFailed} it does not start
 */
export const startHostProcess = async (options: ForkOptions) => {
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

  child.on("message", (response: Response) => {
    if (response.type !== "pong") return deliver(jobs, response);
    pong.resolve();
    pong = awaitPong();
  });
  const { versions, espeak, mp3Fallback } = await untilReady(child, gone);

  return {
    pid: child.pid ?? 0,
    versions,
    /** How texts for espeak-ng are spoken; undefined if it is not installed. */
    espeak,
    /** Why ffmpeg encodes mp3 instead of LAME's library; undefined if it does not, or is meant to. */
    mp3Fallback,
    start: (order: JobSpec, input: AsyncIterable<Buffer>, signal: AbortSignal): RemoteJob => {
      const id = nextJob++;
      const job = startRemoteJob(id, order, input, signal, send);
      if (ended) job.settle(dead);
      else jobs.set(id, job);
      return job;
    },
    /** Resolves with the response. @throws {ToolFailed} the process has ended */
    ping: (): Promise<void> => {
      send({ type: "ping" });
      return pong.promise;
    },
    /** Kills it: its jobs fail. */
    kill: (): void => void child.kill("SIGKILL"),
    /** Resolves when the process has exited and all its jobs are settled. */
    gone,
    /** Ends it and its child processes. */
    close: async (): Promise<void> => {
      const stuck = setTimeout(() => child.kill("SIGKILL"), closeDeadlineMs);
      if (child.connected) child.disconnect();
      await gone;
      clearTimeout(stuck);
    },
  };
};

type Ready = Extract<Response, { type: "ready" }>;

/** @throws {ToolFailed} the process is gone, or not ready in time */
const untilReady = async (child: ChildProcess, gone: Promise<void>): Promise<Ready> => {
  const { promise, resolve, reject } = Promise.withResolvers<Ready>();
  child.on("message", (response: Response) => {
    if (response.type === "ready") resolve(response);
  });
  const tooLate = setTimeout(() => child.kill("SIGKILL"), startDeadlineMs);
  void gone.then(() =>
    reject(new ToolFailed("helper", "The process that runs the speech tools did not start.")),
  );
  return await promise.finally(() => clearTimeout(tooLate));
};

const deliver = (jobs: Map<number, RemoteJob>, response: Response): void => {
  if (response.type === "ready" || response.type === "pong") return;
  const job = jobs.get(response.job);
  if (response.type === "output") job?.received(response.bytes);
  else if (response.type === "written") job?.written(response.bytes);
  else {
    if (response.type === "done") job?.settle(undefined, response.events);
    else job?.settle(new ToolFailed(response.reason, response.message));
    jobs.delete(response.job);
  }
};

/** Waiting callers see the failure; without one it must not be uncaught. */
const awaitPong = (): PromiseWithResolvers<void> => {
  const pong = Promise.withResolvers<void>();
  pong.promise.catch(() => undefined);
  return pong;
};

/**
 * Inherits no secrets of the environment and no directory. It is a session leader: Ctrl-C in the terminal signals only
 * the service, which finishes its work first.
 */
const forkHost = ({ path, ...options }: ForkOptions): ChildProcess =>
  fork(new URL("./host/main.ts", import.meta.url), [JSON.stringify(options)], {
    serialization: "advanced",
    detached: true,
    cwd: "/",
    env: { PATH: path, LANG: "C.UTF-8", ...allocatorSettings(), ...compileCache() },
    // It moves bytes between pipes: a larger young generation would only collect garbage.
    execArgv: ["--max-semi-space-size=4"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });

/** The service's own, which scripts/node sets. */
const allocatorSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("MALLOC_")));

/** The service's cache, so that the helper finds its types stripped. */
const compileCache = (): { readonly NODE_COMPILE_CACHE?: string } => {
  const directory = getCompileCacheDir();
  return directory === undefined ? {} : { NODE_COMPILE_CACHE: dirname(directory) };
};

/** The helper leads a process group, which contains the processes that it left. */
const killOrphans = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // There are none.
  }
};
