import { workerData } from "node:worker_threads";
import { isSelected } from "../subscriptions.ts";
import { findDamage, openForReading, prepareGet } from "./database.ts";
import type { DatabaseFile } from "./database-file.ts";
import { eventAt, logPages, type NewEvents, streamPages, streamsAfter } from "./pages.ts";
import type { LogPage, LogRequest, ReaderProtocol } from "./protocol.ts";
import {
  type Call,
  type Respond,
  type Service,
  serve,
  toFailure,
  type WorkerResponse,
} from "./worker-rpc.ts";

type ReaderCall = Call<ReaderProtocol>;

/** The interval at which a waiting request looks for other processes' appends. */
const pollMs = 20;
/**
 * The time for which a waiting request skips events of other streams before its subscription learns
 * their position.
 */
const maxSkipMs = 500;

/** The version of a request for which nothing was scanned yet. */
const unseen = -1;

interface WaitingRequest {
  readonly id: number;
  readonly request: LogRequest;
  /** The log is scanned up to here, and has no event for the request. */
  readonly scanned: number;
  readonly since: number;
  /** The version of the data before the scan. */
  readonly version: number;
}

class Reader implements Service<ReaderProtocol> {
  readonly #respond: Respond;
  readonly #database = openForReading(workerData as DatabaseFile);
  readonly #readStreamPage = streamPages(this.#database.db);
  readonly #readLogPage = logPages(this.#database.db);
  readonly #readEvent = eventAt(this.#database.db);
  readonly #readStreamsAfter = streamsAfter(this.#database.db);
  /** Changes with every commit of another connection, in this process or another. */
  readonly #dataVersion = prepareGet<{ data_version: number }>(this.#database.db, "PRAGMA data_version");
  /** Requests that wait for events, by subscription. */
  readonly #waiting = new Map<number, WaitingRequest>();
  /**
   * True if a stream was read since the last poll. Its reader may wait for the latest events, so
   * at the next poll no request waits until its lag has passed.
   */
  #isHurried = false;
  #polling: NodeJS.Timeout | undefined;

  constructor(respond: Respond) {
    this.#respond = respond;
  }

  receive(calls: readonly ReaderCall[]): void {
    for (const call of calls) this.#send(this.#orFailure(call.id, () => this.#execute(call)));
  }

  close(): void {
    clearInterval(this.#polling);
    this.#database.db.close();
  }

  #execute(call: ReaderCall): WorkerResponse[] {
    switch (call.kind) {
      case "stream":
        this.#isHurried = true;
        return [{ id: call.id, response: this.#readStreamPage(call.request) }];
      case "log":
        return this.#readLog(call.id, call.request);
      case "event":
        return [{ id: call.id, response: this.#readEvent(call.request) }];
      case "forget":
        return this.#forget(call.request);
      case "wake":
        return this.#repeatWaiting(this.#requests().filter(({ request }) => request.maxLagMs === 0));
      case "probe":
        return [{ id: call.id, response: undefined }];
      case "check":
        return [{ id: call.id, response: findDamage(this.#database.db) }];
    }
  }

  #readLog(id: number, request: LogRequest): WorkerResponse[] {
    const waiting = { id, request, scanned: request.fromExclusive, since: performance.now() };
    // On a busy log there is usually a new event already: a scan now would give a page with this
    // event alone.
    if (request.wait && request.maxLagMs > 0) return this.#wait({ ...waiting, version: unseen });
    return this.#scan({ ...waiting, version: this.#dataVersion().data_version });
  }

  /**
   * Every response costs both threads a message, so a waiting request gets a response only if there
   * is an event for it.
   */
  #scan({ scanned, ...waiting }: WaitingRequest): WorkerResponse[] {
    const { id, request } = waiting;
    const page = this.#readLogPage({ ...request, fromExclusive: scanned });
    const isAtEnd = page.position >= page.head;
    if (!request.wait || page.count > 0 || !isAtEnd) return [{ id, response: page }];
    return this.#wait({ ...waiting, scanned: page.position });
  }

  #wait(waiting: WaitingRequest): WorkerResponse[] {
    this.#waiting.set(waiting.request.subscriptionId, waiting);
    return [];
  }

  #forget(subscriptionId: number): WorkerResponse[] {
    const found = this.#waiting.get(subscriptionId);
    this.#waiting.delete(subscriptionId);
    return found === undefined ? [] : [{ id: found.id, response: emptyPage(found.scanned) }];
  }

  /**
   * Reads once which streams have new events, and then scans the log only for the requests that
   * select one of them.
   */
  #repeatWaiting(requests: readonly WaitingRequest[]): WorkerResponse[] {
    if (requests.length === 0) return [];
    try {
      this.#database.assertFileExists();
      const { data_version: version } = this.#dataVersion();
      const added = this.#readStreamsAfter(Math.min(...requests.map(({ scanned }) => scanned)));
      return requests.flatMap((waiting) => this.#repeat({ ...waiting, version }, added));
    } catch (error) {
      for (const { request } of requests) this.#waiting.delete(request.subscriptionId);
      return requests.map(({ id }) => ({ id, failure: toFailure(error) }));
    }
  }

  #repeat(waiting: WaitingRequest, added: NewEvents | undefined): WorkerResponse[] {
    const { id, request, scanned } = waiting;
    if (added && !added.streams.some((name) => isSelected(name, request)))
      return this.#wait({ ...waiting, scanned: Math.max(scanned, added.head) });
    this.#waiting.delete(request.subscriptionId);
    return this.#orFailure(id, () => this.#scan(waiting));
  }

  /** Completes the requests that have skipped events for long enough. */
  #reportSkipped(): WorkerResponse[] {
    const before = performance.now() - maxSkipMs;
    const due = [...this.#waiting.values()].filter(
      ({ request, scanned, since }) => scanned > request.fromExclusive && since <= before,
    );
    for (const { request } of due) this.#waiting.delete(request.subscriptionId);
    return due.map(({ id, scanned }) => ({ id, response: emptyPage(scanned) }));
  }

  #orFailure(id: number, read: () => WorkerResponse[]): WorkerResponse[] {
    try {
      this.#database.assertFileExists();
      return read();
    } catch (error) {
      return [{ id, failure: toFailure(error) }];
    }
  }

  #send(responses: readonly WorkerResponse[]): void {
    if (responses.length > 0) this.#respond(responses);
    if (this.#waiting.size > 0) this.#polling ??= setInterval(() => this.#poll(), pollMs);
    else {
      clearInterval(this.#polling);
      this.#polling = undefined;
    }
  }

  #requests(): WaitingRequest[] {
    return [...this.#waiting.values()];
  }

  #poll(): void {
    const all = this.#requests();
    this.#send(this.#repeatWaiting(this.#isFileLost() ? all : all.filter(this.#mayBeDue())));
    if (all.some(({ request }) => request.maxLagMs > 0)) this.#isHurried = false;
    this.#send(this.#reportSkipped());
  }

  /** Selects the requests that have not seen the latest commit, and may not wait any longer. */
  #mayBeDue(): (waiting: WaitingRequest) => boolean {
    const now = performance.now();
    const { data_version: latest } = this.#dataVersion();
    return ({ request, since, version }) =>
      version !== latest && (this.#isHurried || now - since >= request.maxLagMs);
  }

  #isFileLost(): boolean {
    try {
      this.#database.assertFileExists();
      return false;
    } catch {
      return true;
    }
  }
}

const emptyPage = (position: number): LogPage => ({
  json: "[]",
  count: 0,
  position,
  head: position,
  strategy: "log",
});

serve((respond) => new Reader(respond));
