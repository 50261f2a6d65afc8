import { type ChildProcess, fork } from "node:child_process";
import { type ProcessEnd, processEnd } from "../domain/process-end.ts";
import { compileCache } from "./compile-cache.ts";
import type { HostOptions, JobSpec, Request, Response } from "./protocol.ts";
import { type RemoteJob, startRemoteJob, type TextListener } from "./remote-job.ts";
import { startDeadlines } from "./start-deadlines.ts";
import { ToolFailed } from "./tools.ts";

export interface ForkOptions extends HostOptions {
  /** The PATH on which the tools are found. */
  readonly path: string;
}

const closeDeadlineMs = 2_000;

const helperEnded = (end: ProcessEnd): ToolFailed =>
  new ToolFailed("helper", "The process that runs the speech tools has ended.", { end });

/** The report of a helper process when it is ready. */
export type Ready = Extract<Response, { type: "ready" }>;

/**
 * Resolves when the process is ready.
 * @throws {ToolFailed} if the process does not start, or not in time
 */
export const startHostProcess = async (options: ForkOptions, signal: AbortSignal): Promise<HostProcess> => {
  const child = forkHost(options);
  const { promise, resolve, reject } = Promise.withResolvers<Ready>();
  const fail = (end: ProcessEnd) => {
    killOrphans(child);
    reject(new ToolFailed("helper", "The process that runs the speech tools did not start.", { end }));
  };
  const onExit = (code: number | null, signal: string | null) => fail(processEnd(code, signal));
  const onError = () => fail({});
  const receive = (first: Response) => {
    if (first.type === "ready") return resolve(first);
    if (first.type === "notStarted") reject(new ToolFailed("helper", first.message));
    child.kill("SIGKILL");
  };
  child.once("message", receive).once("exit", onExit).once("error", onError);
  const kill = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", kill, { once: true });
  const tooLate = setTimeout(kill, startDeadlines.totalMs);
  const report = await promise.finally(() => {
    clearTimeout(tooLate);
    signal.removeEventListener("abort", kill);
  });
  child.off("exit", onExit).off("error", onError);
  return new HostProcess(channelTo(child), report);
};

/**
 * The connection to a helper process, which is a child of this process, or of a process that shares
 * it.
 */
export interface HelperChannel {
  readonly pid: number;
  send(request: Request): void;
  /** Sets the receiver of the responses. It is called once. */
  onResponse(receive: (response: Response) => void): void;
  /** Resolves when the process has exited. */
  readonly ended: Promise<ProcessEnd>;
  /** Kills the helper process: all its jobs fail. */
  kill(): void;
  /** Ends the helper process and its child processes. */
  disconnect(): void;
}

const channelTo = (child: ChildProcess): HelperChannel => ({
  pid: child.pid ?? 0,
  send: (request) => {
    if (child.connected) child.send(request, undefined, {}, () => undefined);
  },
  onResponse: (receive) => void child.on("message", receive),
  ended: new Promise((resolve) => {
    const end = (how: ProcessEnd) => {
      killOrphans(child);
      resolve(how);
    };
    child.once("exit", (code, signal) => end(processEnd(code, signal))).once("error", () => end({}));
  }),
  kill: () => void child.kill("SIGKILL"),
  disconnect: () => {
    if (child.connected) child.disconnect();
  },
});

/** The jobs of another process in a helper process. */
export interface AttachedJobs {
  /** Sends a request, in which the job has the number that the other process gave it. */
  send(request: Request): void;
  /** Ends the jobs, because the other process has ended. */
  detach(): void;
}

/** One helper process. */
export class HostProcess {
  readonly report: Ready;
  /** Resolves when the process has exited and all its jobs are settled. */
  readonly gone: Promise<ProcessEnd>;
  readonly #channel: HelperChannel;
  readonly #jobs = new Map<number, RemoteJob>();
  /** The receivers of responses about the jobs of other processes. */
  readonly #attached = new Map<number, (response: Response) => void>();
  #pong = awaitPong();
  #nextJob = 0;
  #ended: ToolFailed | undefined;

  constructor(channel: HelperChannel, report: Ready) {
    this.report = report;
    this.#channel = channel;
    channel.onResponse((response) => this.#receive(response));
    this.gone = channel.ended.then((end) => this.#end(end));
  }

  get pid(): number {
    return this.#channel.pid;
  }

  /** Starts a job. Only a text has a `listener`, and it has no input. */
  start(
    spec: JobSpec,
    input: AsyncIterable<Buffer> | undefined,
    signal: AbortSignal,
    listener?: TextListener,
  ): RemoteJob {
    const id = this.#nextJob++;
    const send = (request: Request): void => this.#channel.send(request);
    const job = startRemoteJob(id, spec, input, signal, send, listener);
    if (this.#ended) job.settle(this.#ended);
    else this.#jobs.set(id, job);
    return job;
  }

  /**
   * Resolves when the process responds.
   * @throws {ToolFailed} if the process has ended
   */
  ping(): Promise<void> {
    this.#channel.send({ type: "ping" });
    return this.#pong.promise;
  }

  /**
   * Runs the jobs of another process that shares this helper. `receive` gets the responses about
   * them.
   */
  attach(receive: (response: Response) => void): AttachedJobs {
    /** The numbers of the jobs in this process, by their numbers in the other process. */
    const ids = new Map<number, number>();
    const start = (request: Extract<Request, { type: "start" }>): void => {
      const id = this.#nextJob++;
      ids.set(request.job, id);
      this.#attached.set(id, (response) => {
        if (response.type === "done" || response.type === "failed") ids.delete(request.job);
        receive({ ...response, job: request.job } as Response);
      });
      this.#channel.send({ ...request, job: id });
    };
    return {
      send: (request) => {
        if (request.type === "start") return start(request);
        if (request.type === "ping") return void this.ping().then(() => receive({ type: "pong" }), ignore);
        const id = ids.get(request.job);
        if (id !== undefined) this.#channel.send({ ...request, job: id });
      },
      detach: () => {
        for (const job of ids.values()) {
          this.#attached.set(job, ignore);
          this.#channel.send({ type: "abort", job });
        }
        ids.clear();
      },
    };
  }

  /** Kills the process: its jobs fail. */
  kill(): void {
    this.#channel.kill();
  }

  /** Ends the process and its child processes. */
  async close(): Promise<void> {
    const stuck = setTimeout(() => this.kill(), closeDeadlineMs);
    this.#channel.disconnect();
    await this.gone;
    clearTimeout(stuck);
  }

  #receive(response: Response): void {
    if (response.type === "ready" || response.type === "notStarted") return;
    if (response.type === "pong") {
      this.#pong.resolve();
      this.#pong = awaitPong();
      return;
    }
    const receive = this.#attached.get(response.job);
    if (receive) {
      if (response.type === "done" || response.type === "failed") this.#attached.delete(response.job);
      receive(response);
      return;
    }
    const job = this.#jobs.get(response.job);
    if (response.type === "output") job?.received(response.bytes);
    else if (response.type === "written") job?.written(response.bytes);
    else if (response.type === "textRequest") void job?.onRequest(response.number, response.request);
    else if (response.type === "encoding") job?.encoding(response.sampleRate);
    else if (response.type === "spoken") job?.spoken(response);
    else {
      if (response.type === "done") job?.settle(undefined, response);
      else job?.settle(new ToolFailed(response.reason, response.message, response));
      this.#jobs.delete(response.job);
    }
  }

  #end(end: ProcessEnd): ProcessEnd {
    this.#ended = helperEnded(end);
    this.#pong.reject(this.#ended);
    for (const job of this.#jobs.values()) job.settle(this.#ended);
    this.#jobs.clear();
    return end;
  }
}

const ignore = (): void => undefined;

/** Callers that wait get the failure. Without a caller, the rejection must not be uncaught. */
const awaitPong = (): PromiseWithResolvers<void> => {
  const pong = Promise.withResolvers<void>();
  pong.promise.catch(() => undefined);
  return pong;
};

/**
 * Starts the process. It inherits no secrets of the environment, and no working directory. It is a
 * session leader, so that Ctrl-C in the terminal signals only the service, which finishes its work
 * first.
 */
const forkHost = ({ path, ...options }: ForkOptions): ChildProcess =>
  fork(new URL("./host/main.ts", import.meta.url), [JSON.stringify(options)], {
    serialization: "advanced",
    detached: true,
    cwd: "/",
    env: { PATH: path, LANG: "C.UTF-8", ...allocatorSettings(), ...compileCache() },
    // The process only moves bytes between pipes: a larger young generation would fill with
    // garbage.
    execArgv: ["--max-semi-space-size=4"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });

/** The settings of the service's own allocator, which scripts/node makes. */
const allocatorSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("MALLOC_")));

/** Kills the processes that a helper has left behind: they are in its process group. */
const killOrphans = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // No process is left.
  }
};
