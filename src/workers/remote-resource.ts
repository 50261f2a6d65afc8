import type {
  AcquireOptions,
  Resource,
  ResourceContext,
  ResourceOptions,
  Scope,
} from "../async/scheduler/resource.ts";
import type { OpenResource } from "../async/scheduler/scheduler.ts";
import type { Waiter } from "../async/scheduler/waiter.ts";
import type { Port, Protocol } from "./port.ts";

/** The part of a resource's options that the primary needs. */
export type ResourceBounds = Pick<
  ResourceOptions,
  | "concurrency"
  | "concurrencyPerKey"
  | "reserved"
  | "queueLimit"
  | "queueLimitPerKey"
  | "queueTimeoutMs"
  | "keyRetryAfterSeconds"
>;

/** A resource of the primary, which the first request opens, and the keys of a waiter. */
interface ResourceRequest {
  readonly resource: string;
  readonly bounds: ResourceBounds;
  readonly keys: readonly string[];
}

/** A job of a worker that waits for a slot. */
interface SlotRequest extends ResourceRequest {
  /** The id is unique in its worker. */
  readonly id: number;
  /** The estimated seconds of the whole response. */
  readonly responseSeconds: number;
  readonly sequence: number;
  readonly options: AcquireOptions;
}

/** Calls of a worker to the process that has the slots. */
export type SlotCalls = {
  /** Responds when the job has its slot, or with the scope of its refusal. */
  acquireSlot: { request: SlotRequest; response: "granted" | Scope };
  /** Responds with the scope of the refusal that `acquireSlot` would get now, or with undefined. */
  findRefusal: { request: ResourceRequest; response: Scope | undefined };
  /** A further key has joined the job. */
  joinSlot: { request: { readonly id: number; readonly key: string }; response: undefined };
  /** The job has ended, or no longer waits. */
  releaseSlot: { request: number; response: undefined };
};

type SlotPort = Pick<Port<SlotCalls, Protocol>, "call" | "post">;

let lastId = 0;

/** Opens resources whose slots the primary grants to the jobs of all workers. */
export const openRemoteResource =
  (port: SlotPort): OpenResource =>
  (name, options, context) =>
    new RemoteResource(port, name, options, context);

class RemoteResource implements Resource {
  readonly #port: SlotPort;
  readonly #name: string;
  readonly #options: ResourceOptions;
  readonly #bounds: ResourceBounds;
  readonly #context: ResourceContext;
  /** The times since which jobs of this worker wait, by their ids. */
  readonly #waiting = new Map<number, number>();
  /** The running jobs of this worker, the oldest first. */
  readonly #runs = new Set<{ readonly startedAt: number }>();
  #lastGrantAt = Number.NEGATIVE_INFINITY;
  #fullAt = Number.NEGATIVE_INFINITY;

  constructor(port: SlotPort, name: string, options: ResourceOptions, context: ResourceContext) {
    this.#port = port;
    this.#name = name;
    this.#options = options;
    this.#context = context;
    const { concurrency, concurrencyPerKey, reserved } = options;
    const { queueLimit, queueLimitPerKey, queueTimeoutMs, keyRetryAfterSeconds } = options;
    this.#bounds = {
      ...{ concurrency, queueLimit, queueLimitPerKey, queueTimeoutMs, keyRetryAfterSeconds },
      ...(concurrencyPerKey !== undefined && { concurrencyPerKey }),
      ...(reserved !== undefined && { reserved }),
    };
  }

  async acquire(waiter: Waiter, signal: AbortSignal, options: AcquireOptions = {}): Promise<() => void> {
    signal.throwIfAborted();
    lastId += 1;
    const id = lastId;
    const aborted = Promise.withResolvers<never>();
    aborted.promise.catch(() => {});
    const onAbort = (): void => aborted.reject(signal.reason);
    const stopListening = waiter.onJoin((key) => this.#port.post("joinSlot", { id, key }));
    signal.addEventListener("abort", onAbort, { once: true });
    const queuedAt = this.#context.time.now();
    this.#waiting.set(id, queuedAt);
    this.#context.onChange();
    try {
      const outcome = await Promise.race([this.#request(id, waiter, options), aborted.promise]);
      if (outcome !== "granted") throw this.#refuse(outcome);
      this.#lastGrantAt = this.#context.time.now();
      this.#context.onStart(this.#lastGrantAt - queuedAt);
      return this.#hold(id);
    } catch (error) {
      this.#port.post("releaseSlot", id);
      throw error;
    } finally {
      stopListening();
      signal.removeEventListener("abort", onAbort);
      this.#waiting.delete(id);
      this.#context.onChange();
    }
  }

  /** Throws: only resources without queues grant slots at once, and those are not shared. */
  acquireNow(): never {
    throw new Error(`a slot of ${this.#name} is granted by another process`);
  }

  async requireCapacity(waiter: Waiter): Promise<void> {
    const refused = await this.#port.call("findRefusal", this.#requestOf(waiter));
    if (refused !== undefined) throw this.#refuse(refused);
  }

  running(): number {
    return this.#runs.size;
  }

  queued(): number {
    return this.#waiting.size;
  }

  isFull(): boolean {
    return this.#context.time.now() - this.#fullAt < fullMs;
  }

  isSlow(): boolean {
    return this.oldestWaitMs() > this.#options.queueTimeoutMs / 2;
  }

  oldestWaitMs(): number {
    const [oldest] = this.#waiting.values();
    if (oldest === undefined) return 0;
    return Math.max(0, this.#context.time.now() - Math.max(oldest, this.#lastGrantAt));
  }

  oldestRunMs(): number {
    const [oldest] = this.#runs;
    return oldest ? this.#context.time.now() - oldest.startedAt : 0;
  }

  async #request(id: number, waiter: Waiter, options: AcquireOptions): Promise<"granted" | Scope> {
    const { seconds: responseSeconds, sequence } = waiter;
    const request = { ...this.#requestOf(waiter), id, responseSeconds, sequence, options };
    return await this.#port.call("acquireSlot", request);
  }

  #requestOf({ keys }: Waiter): ResourceRequest {
    return { resource: this.#name, bounds: this.#bounds, keys: [...keys] };
  }

  #hold(id: number): () => void {
    const run = { startedAt: this.#context.time.now() };
    this.#runs.add(run);
    return () => {
      if (!this.#runs.delete(run)) return;
      this.#port.post("releaseSlot", id);
      this.#context.onChange();
    };
  }

  #refuse(scope: Scope): Error {
    if (scope === "all") this.#fullAt = this.#context.time.now();
    this.#context.onRefused(scope);
    return this.#options.overloaded(scope);
  }
}

/**
 * A resource is reported as full for this time after it has refused a job because all its queues
 * were full.
 */
const fullMs = 1_000;
