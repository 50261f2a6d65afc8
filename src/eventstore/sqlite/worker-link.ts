import { Worker } from "node:worker_threads";
import { EventStoreUnavailable } from "../event-store.ts";
import type { Answer, Call, Inbound, Outbound, Protocol } from "./protocol.ts";
import { toError } from "./protocol.ts";

/** The main thread's end of a worker. */
export interface WorkerLink<P extends Protocol> {
  /** @throws {EventStoreUnavailable} when the worker failed, died or is closed; `cause` says why. */
  call<K extends keyof P & string>(kind: K, request: P[K]["request"]): Promise<P[K]["answer"]>;
  /** Says something that is not answered; lost when there is no worker. */
  post<K extends keyof P & string>(kind: K, request: P[K]["request"]): void;
  /** Lets the worker finish what it was asked. */
  close(): Promise<void>;
}

export interface WorkerLinkOptions {
  readonly entry: URL;
  readonly workerData: unknown;
  /**
   * `together`: what is called in one go crosses as one message, before the caller's callers go on with what they do. `now`:
   * each call crosses at once, so that the worker is at it while the caller's own work goes on.
   */
  readonly send: "now" | "together";
}

interface Pending {
  resolve(answer: never): void;
  reject(error: unknown): void;
}

/** A worker that died is started anew by the next call; what it was asked is rejected, never asked again unasked. */
export const openWorkerLink = <P extends Protocol>({
  entry,
  workerData,
  send,
}: WorkerLinkOptions): WorkerLink<P> => {
  const pending = new Map<number, Pending>();
  let outbox: Call<P>[] = [];
  let worker: Worker | undefined;
  let closed: Promise<void> | undefined;
  let lastId = 0;

  const start = (): Worker => {
    const started = new Worker(entry, { workerData, execArgv: ["--disable-warning=ExperimentalWarning"] });
    started.on("message", (message: Outbound) => {
      if ("answers" in message) for (const answer of message.answers) settle(answer);
      else lose(started, toError(message.refused));
    });
    started.on("error", (error) => lose(started, error));
    started.on("messageerror", (error) => lose(started, error));
    started.on("exit", (code) => lose(started, new Error(`the worker ended with ${code}`)));
    return started;
  };

  const settle = (answer: Answer): void => {
    const call = pending.get(answer.id);
    pending.delete(answer.id);
    if ("failure" in answer) call?.reject(unavailable(toError(answer.failure)));
    else call?.resolve(answer.answer as never);
  };

  /** Every call that is open was this worker's: there is no other. */
  const lose = (lost: Worker, cause: unknown): void => {
    if (lost !== worker) return;
    worker = undefined;
    outbox = [];
    const calls = [...pending.values()];
    pending.clear();
    for (const call of calls) call.reject(unavailable(cause));
    void lost.terminate();
  };

  const flush = (): void => {
    const calls = outbox;
    outbox = [];
    if (calls.length > 0) worker?.postMessage(calls satisfies Inbound<P>);
  };

  const post = <K extends keyof P & string>(id: number, kind: K, request: P[K]["request"]): void => {
    outbox.push({ id, kind, request });
    if (send === "now") flush();
    else if (outbox.length === 1) queueMicrotask(flush);
  };

  const end = async (): Promise<void> => {
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker?.once("exit", resolve));
    flush();
    worker.postMessage("close" satisfies Inbound<P>);
    await ended;
  };

  return {
    async call(kind, request) {
      if (closed !== undefined) throw new EventStoreUnavailable("the event store is closed");
      worker ??= start();
      return await new Promise((resolve, reject) => {
        lastId += 1;
        pending.set(lastId, { resolve, reject });
        post(lastId, kind, request);
      });
    },
    post(kind, request) {
      if (worker !== undefined) post(0, kind, request);
    },
    close() {
      closed ??= end();
      return closed;
    },
  };
};

const unavailable = (cause: unknown): EventStoreUnavailable =>
  new EventStoreUnavailable(`the event store failed: ${(cause as Error).message}`, { cause });
