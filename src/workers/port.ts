import { backgroundTime, type Time } from "../async/time.ts";
import { errorMessage } from "../domain/errors.ts";

/**
 * This file has the calls between the primary and a worker, in both directions, over the channel of
 * `child_process.fork`. Requests and responses are copied by V8's serialization.
 */

/** The request and the response of each kind of call. */
export type Protocol = Record<string, { readonly request: unknown; readonly response: unknown }>;

/** A call without a response may return nothing. */
type Returned<Response> = [Response] extends [undefined]
  ? void | Promise<void>
  : Response | Promise<Response>;

export type Handlers<P extends Protocol> = {
  readonly [K in keyof P]: (request: P[K]["request"]) => Returned<P[K]["response"]>;
};

/** One end of the channel. */
export interface Channel {
  send(messages: readonly Message[]): void;
  /** Sets the receiver. It is called once, before any message arrives. */
  onMessages(receive: (messages: readonly Message[]) => void): void;
}

export type Message =
  /** `id` is 0 if no response is wanted. */
  | { readonly id: number; readonly kind: string; readonly request: unknown }
  | { readonly id: number; readonly response: unknown }
  | { readonly id: number; readonly failure: string };

/** The other process has refused a call, has not responded in time, or has ended. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
}

interface Pending {
  resolve(response: never): void;
  reject(error: Error): void;
}

interface CallOptions {
  /** The deadline for the response. Default: the call waits until the other process has ended. */
  readonly withinMs?: number;
}

/**
 * Calls the other process, and serves its calls. `Out`: the calls that the other process serves.
 */
export class Port<Out extends Protocol, In extends Protocol> {
  readonly #channel: Channel;
  readonly #handlers: Handlers<In>;
  readonly #time: Time;
  readonly #pending = new Map<number, Pending>();
  #outbox: Message[] = [];
  #lastId = 0;
  #closed: CallFailed | undefined;

  constructor(channel: Channel, handlers: Handlers<In>, time: Time = backgroundTime) {
    this.#channel = channel;
    this.#handlers = handlers;
    this.#time = time;
    channel.onMessages((messages) => {
      for (const message of messages) this.#receive(message);
    });
  }

  /**
   * @throws {CallFailed} with the message of the other process's error; also if that process has
   * not responded in time, or has ended
   */
  async call<K extends keyof Out & string>(
    kind: K,
    request: Out[K]["request"],
    { withinMs }: CallOptions = {},
  ): Promise<Out[K]["response"]> {
    if (this.#closed) throw this.#closed;
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Out[K]["response"]>();
    this.#pending.set(id, { resolve, reject });
    this.#send({ id, kind, request });
    if (withinMs === undefined) return await promise;
    const failure = `no response to ${kind} within ${withinMs} ms`;
    const cancel = this.#time.after(withinMs, () => this.#receive({ id, failure }));
    return await promise.finally(cancel);
  }

  /** Sends a call whose outcome does not matter. */
  post<K extends keyof Out & string>(kind: K, request: Out[K]["request"]): void {
    if (!this.#closed) this.#send({ id: 0, kind, request });
  }

  /** Called when the other process has ended. Calls to it fail. */
  close(): void {
    this.#closed = new CallFailed("the other process has ended");
    for (const { reject } of this.#pending.values()) reject(this.#closed);
    this.#pending.clear();
  }

  /**
   * Sends all messages of one turn of the event loop together: sending costs both processes a
   * system call.
   */
  #send(message: Message): void {
    this.#outbox.push(message);
    if (this.#outbox.length > 1) return;
    queueMicrotask(() => {
      const messages = this.#outbox;
      this.#outbox = [];
      if (!this.#closed) this.#channel.send(messages);
    });
  }

  #receive(message: Message): void {
    if ("kind" in message) return void this.#serve(message);
    const call = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ("failure" in message) call?.reject(new CallFailed(message.failure));
    else call?.resolve(message.response as never);
  }

  async #serve({ id, kind, request }: Extract<Message, { kind: string }>): Promise<void> {
    try {
      const response = await this.#handlers[kind as keyof In](request as never);
      if (id > 0) this.#send({ id, response });
    } catch (error) {
      if (id > 0) this.#send({ id, failure: errorMessage(error) });
    }
  }
}
