/**
 * Calls from the main thread to a worker thread. Requests and responses must survive a structured
 * clone.
 */
import { parentPort, Worker } from "node:worker_threads";
import { EventStoreLost, EventStoreUnavailable } from "../event-store.ts";
import { fileLost } from "./database-file.ts";

/** The request and the response of each kind of call. */
export type Protocol = Record<string, { readonly request: unknown; readonly response: unknown }>;

export type Call<P extends Protocol> = {
  [K in keyof P & string]: { readonly id: number; readonly kind: K; readonly request: P[K]["request"] };
}[keyof P & string];

export type WorkerResponse = { readonly id: number } & (
  | { readonly response: unknown }
  | { readonly failure: Failure }
);

/** An error's transferable part: a clone of an `Error` would lose its codes. */
export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
  /** SQLite's extended result code. */
  readonly errcode: number | undefined;
}

export const toFailure = (error: unknown): Failure => {
  const { message, code, errcode } = error as Error & { code?: string; errcode?: number };
  return { message: message ?? String(error), code, errcode };
};

const toError = ({ message, code, errcode }: Failure): Error =>
  Object.assign(new Error(message), { code, errcode });

/** A message of the main thread; "close" is the last one. */
type Inbound<P extends Protocol> = readonly Call<P>[] | "close";
/** A message of the worker; `refused` means that it could not start. */
type Outbound = { readonly responses: readonly WorkerResponse[] } | { readonly refused: Failure };

interface WorkerClientOptions {
  readonly entry: URL;
  readonly workerData: unknown;
  /**
   * `together`: calls of one microtask turn are one message. `now`: each call is a message, which
   * the worker reads at once.
   */
  readonly send: "now" | "together";
}

interface Pending {
  resolve(response: never): void;
  reject(error: unknown): void;
}

/**
 * The main thread's side. If the worker fails, its calls are rejected, never repeated, and the next
 * call starts a new worker.
 */
export class WorkerClient<P extends Protocol> {
  readonly #options: WorkerClientOptions;
  readonly #pending = new Map<number, Pending>();
  #outbox: Call<P>[] = [];
  #worker: Worker | undefined;
  #closed: Promise<void> | undefined;
  #lastId = 0;

  constructor(options: WorkerClientOptions) {
    this.#options = options;
  }

  /** Starts the worker's thread ahead of the first call. */
  start(): void {
    this.#worker ??= this.#startWorker();
  }

  /** @throws {EventStoreUnavailable} if the worker fails or is closed, with the cause */
  async call<K extends keyof P & string>(kind: K, request: P[K]["request"]): Promise<P[K]["response"]> {
    if (this.#closed !== undefined) throw new EventStoreUnavailable("the event store is closed");
    this.start();
    return await new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#pending.set(this.#lastId, { resolve, reject });
      this.#enqueue(this.#lastId, kind, request);
    });
  }

  /** Sends a message that has no response. It is lost if no worker runs. */
  post<K extends keyof P & string>(kind: K, request: P[K]["request"]): void {
    if (this.#worker !== undefined) this.#enqueue(0, kind, request);
  }

  /** Ends the worker after its calls. */
  close(): Promise<void> {
    this.#closed ??= this.#endWorker();
    return this.#closed;
  }

  #startWorker(): Worker {
    const { entry, workerData } = this.#options;
    const worker = new Worker(entry, { workerData, execArgv: ["--disable-warning=ExperimentalWarning"] });
    worker.on("message", (message: Outbound) => {
      if ("responses" in message) for (const response of message.responses) this.#settle(response);
      else this.#fail(worker, toError(message.refused));
    });
    worker.on("error", (error) => this.#fail(worker, error));
    worker.on("messageerror", (error) => this.#fail(worker, error));
    worker.on("exit", (code) => this.#fail(worker, new Error(`the worker ended with ${code}`)));
    return worker;
  }

  #settle(response: WorkerResponse): void {
    const call = this.#pending.get(response.id);
    this.#pending.delete(response.id);
    if ("failure" in response) call?.reject(toUnavailable(toError(response.failure)));
    else call?.resolve(response.response as never);
  }

  #fail(failed: Worker, cause: unknown): void {
    if (failed !== this.#worker) return;
    this.#worker = undefined;
    this.#outbox = [];
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) call.reject(toUnavailable(cause));
    void failed.terminate();
  }

  #enqueue<K extends keyof P & string>(id: number, kind: K, request: P[K]["request"]): void {
    this.#outbox.push({ id, kind, request });
    if (this.#options.send === "now") this.#flush();
    else if (this.#outbox.length === 1) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    const calls = this.#outbox;
    this.#outbox = [];
    if (calls.length > 0) this.#worker?.postMessage(calls satisfies Inbound<P>);
  }

  async #endWorker(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    this.#flush();
    worker.postMessage("close" satisfies Inbound<P>);
    await ended;
  }
}

const toUnavailable = (cause: unknown): EventStoreUnavailable => {
  const { message, code } = cause as Error & { code?: string };
  const ErrorClass = code === fileLost ? EventStoreLost : EventStoreUnavailable;
  return new ErrorClass(`the event store failed: ${message}`, { cause });
};

/** The worker's side. */
export interface Service<P extends Protocol> {
  receive(calls: readonly Call<P>[]): void;
  /** Called after the last call: responds to open calls and frees everything. */
  close(): void;
}

export type Respond = (responses: readonly WorkerResponse[]) => void;

/**
 * Runs the service in this worker thread, from the first call until "close". An error of `start` is
 * sent as the refusal.
 */
export const serve = <P extends Protocol>(start: (respond: Respond) => Service<P>): void => {
  const port = parentPort;
  if (port === null) throw new Error("this module runs in a worker thread only");
  const send = (message: Outbound): void => port.postMessage(message);
  let service: Service<P> | undefined;
  port.on("message", (message: Inbound<P>) => {
    if (message === "close") {
      service?.close();
      port.close();
      return;
    }
    try {
      service ??= start((responses) => send({ responses }));
    } catch (error) {
      return send({ refused: toFailure(error) });
    }
    service.receive(message);
  });
};
