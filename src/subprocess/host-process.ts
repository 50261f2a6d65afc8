import { type ChildProcess, fork } from "node:child_process";
import { compileCache } from "./compile-cache.ts";
import type { HostOptions, JobSpec, Request, Response } from "./protocol.ts";
import { type RemoteJob, startRemoteJob, type TextListener } from "./remote-job.ts";
import { startDeadlines } from "./start-deadlines.ts";
import { ToolFailed } from "./tools.ts";

export interface ForkOptions extends HostOptions {
  /** PATH of the tools. */
  readonly path: string;
}

const closeDeadlineMs = 2_000;

const dead = new ToolFailed("helper", "The process that runs the speech tools has ended.");

/** The report of a helper process when it is ready. */
export type Ready = Extract<Response, { type: "ready" }>;

/** Resolves when the process is ready. @throws {ToolFailed} it does not start, or not in time */
export const startHostProcess = async (options: ForkOptions): Promise<HostProcess> => {
  const child = forkHost(options);
  const { promise, resolve, reject } = Promise.withResolvers<Ready>();
  const fail = () => {
    killOrphans(child);
    reject(new ToolFailed("helper", "The process that runs the speech tools did not start."));
  };
  const receive = (first: Response) => {
    if (first.type === "ready") return resolve(first);
    if (first.type === "notStarted") reject(new ToolFailed("helper", first.message));
    child.kill("SIGKILL");
  };
  child.once("message", receive).once("exit", fail).once("error", fail);
  const tooLate = setTimeout(() => child.kill("SIGKILL"), startDeadlines.totalMs);
  const report = await promise.finally(() => clearTimeout(tooLate));
  child.off("exit", fail).off("error", fail);
  return new HostProcess(child, report);
};

/** One helper process. */
export class HostProcess {
  readonly report: Ready;
  /** Resolves when the process has exited and all its jobs are settled. */
  readonly gone: Promise<void>;
  readonly #child: ChildProcess;
  readonly #jobs = new Map<number, RemoteJob>();
  #pong = awaitPong();
  #nextJob = 0;
  #ended = false;

  constructor(child: ChildProcess, report: Ready) {
    this.report = report;
    this.#child = child;
    child.on("message", (response: Response) => this.#receive(response));
    this.gone = new Promise((resolve) => {
      const end = () => {
        this.#end();
        resolve();
      };
      child.once("exit", end).once("error", end);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** `listener`: of a text. */
  start(
    spec: JobSpec,
    input: AsyncIterable<Buffer>,
    signal: AbortSignal,
    listener?: TextListener,
  ): RemoteJob {
    const id = this.#nextJob++;
    const job = startRemoteJob(id, spec, input, signal, (request) => this.#send(request), listener);
    if (this.#ended) job.settle(dead);
    else this.#jobs.set(id, job);
    return job;
  }

  /** Resolves with the response. @throws {ToolFailed} the process has ended */
  ping(): Promise<void> {
    this.#send({ type: "ping" });
    return this.#pong.promise;
  }

  /** Kills it: its jobs fail. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Ends it and its child processes. */
  async close(): Promise<void> {
    const stuck = setTimeout(() => this.kill(), closeDeadlineMs);
    if (this.#child.connected) this.#child.disconnect();
    await this.gone;
    clearTimeout(stuck);
  }

  #send(request: Request): void {
    if (this.#child.connected) this.#child.send(request, undefined, {}, () => undefined);
  }

  #receive(response: Response): void {
    if (response.type === "ready" || response.type === "notStarted") return;
    if (response.type === "pong") {
      this.#pong.resolve();
      this.#pong = awaitPong();
      return;
    }
    const job = this.#jobs.get(response.job);
    if (response.type === "output") job?.received(response.bytes);
    else if (response.type === "written") job?.written(response.bytes);
    else if (response.type === "question") void job?.onQuestion(response.number, response.question);
    else if (response.type === "encoding") job?.encoding(response.sampleRate);
    else if (response.type === "spoken") job?.spoken(response);
    else {
      if (response.type === "done") job?.settle(undefined, response);
      else job?.settle(new ToolFailed(response.reason, response.message, response));
      this.#jobs.delete(response.job);
    }
  }

  #end(): void {
    killOrphans(this.#child);
    this.#ended = true;
    this.#pong.reject(dead);
    for (const job of this.#jobs.values()) job.settle(dead);
    this.#jobs.clear();
  }
}

/** Waiting callers see the failure; without one it must not be uncaught. */
const awaitPong = (): PromiseWithResolvers<void> => {
  const pong = Promise.withResolvers<void>();
  pong.promise.catch(() => undefined);
  return pong;
};

/**
 * Inherits no secrets of the environment and no directory. It is a session leader: Ctrl-C in the
 * terminal signals only the service, which finishes its work first.
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

/** The helper leads a process group, which contains the processes that it left. */
const killOrphans = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // There are none.
  }
};
