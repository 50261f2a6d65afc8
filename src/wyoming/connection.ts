import { once } from "node:events";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { withDeadline } from "../async/deadline.ts";
import type { Time } from "../async/time.ts";
import { inTimeSlices } from "../async/time-slices.ts";
import type { WebsiteConfig } from "../domain/accounts/website-config.ts";
import { Invalid, Unavailable } from "../domain/errors.ts";
import { describeRefusal, isInternalError, presentError } from "../http/kernel/errors/error-codes.ts";
import { RateLimited, tryWithMore } from "../limits/limits.ts";
import { type EventLimits, EventParser } from "./event-parser.ts";
import { type ClientEvent, errorEvent, parseEvent, pong, type RequestedVoice } from "./events.ts";
import { type SpeakerServices, speakUtterance } from "./speaker.ts";
import {
  type Manner,
  mannerOf,
  type StreamedUtterance,
  streamedUtterance,
  type Utterance,
  wholeUtterance,
} from "./utterance.ts";

export interface ConnectionServices extends SpeakerServices {
  /** The `info` event of a website. */
  readonly info: (websiteId: string) => Buffer;
  /** @throws {NotFound} */
  readonly configOf: (websiteId: string) => WebsiteConfig;
}

export interface ConnectionLimits extends EventLimits {
  /** The maximum length of an utterance's text, in code points. */
  readonly textCharacters: number;
  /**
   * The number of events that may follow an admitted request within a minute. One text may take as
   * many events as it has characters.
   */
  readonly eventsPerMinute: number;
  /**
   * The longest time in which nothing is received or sent within an utterance. With the default
   * settings, every synthesis sends audio before that.
   */
  readonly utteranceIdleMs: number;
  /** The longest time in which nothing is received or sent between utterances. */
  readonly idleMs: number;
  /** The longest time in which a client may read nothing. */
  readonly stallMs: number;
  /** The longest time that a client may take to read the last event and to close the connection. */
  readonly lingerMs: number;
}

interface ConnectionOptions {
  readonly services: ConnectionServices;
  readonly limits: ConnectionLimits;
  readonly log: Logger;
  readonly time: Time;
}

/**
 * A client's connection. It speaks one utterance at a time; while another one waits, nothing more
 * is read. An error ends the connection, as in the protocol's own server: a client that ignores
 * `error` would wait for its audio forever.
 */
export class Connection {
  /** Resolves when the connection is closed and its servings have been recorded. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #parser: EventParser;
  /** Aborted when the connection ends, for any reason. */
  readonly #over = new AbortController();
  /** The utterance between `synthesize-start` and `synthesize-stop`. */
  #incoming: StreamedUtterance | undefined;
  #speaking: Promise<void> | undefined;
  #isDraining = false;
  #activeAt: number;
  /** Counts the events since the last admitted request. It starts again after a minute. */
  #counted = { startedAt: 0, events: 0 };
  #cancelIdleTimer: (() => void) | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#parser = new EventParser(options.limits);
    this.#activeAt = options.time.now();
    socket.on("data", (chunk) => void this.#receive(chunk));
    socket.on("end", () => this.#close());
    socket.on("error", () => this.#close());
    this.ended = new Promise((resolve) => {
      socket.on("close", () => {
        this.#close();
        resolve(this.#speaking);
      });
    });
    this.#closeWhenIdle();
  }

  /** The time at which the connection was last used; undefined during an utterance. */
  get idleSince(): number | undefined {
    return this.#isBusy ? undefined : this.#activeAt;
  }

  /** Closes the connection, after the utterance in progress. */
  drain(): void {
    this.#isDraining = true;
    if (!this.#speaking) this.#close();
  }

  /** Ends the utterance in progress with an error, and closes the connection. */
  abort(): void {
    this.#fail(shuttingDown);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  get isDestroyed(): boolean {
    return this.#socket.destroyed;
  }

  /**
   * Handles the events of a chunk in order. A chunk may hold thousands, so other connections are
   * served in between. Nothing more is read until they are handled.
   */
  async #receive(chunk: Buffer): Promise<void> {
    if (this.#over.signal.aborted) return;
    this.#socket.pause();
    try {
      for await (const received of inTimeSlices(this.#parser.push(chunk), this.#over.signal)) {
        this.#activeAt = this.#options.time.now();
        this.#countEvent();
        const event = parseEvent(received);
        if (event) await this.#handle(event);
        if (this.#over.signal.aborted) return;
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#socket.resume();
    }
  }

  async #handle(event: ClientEvent): Promise<void> {
    const { services, limits } = this.#options;
    switch (event.type) {
      case "describe": {
        const admit = () => services.caller.admit(this.#client, { suspended: "allowed" });
        const { websiteId } = await tryWithMore(admit, this.#over.signal);
        this.#counted.events = 0;
        return await this.#send(services.info(websiteId));
      }
      case "ping":
        return await this.#send(pong(event.text));
      case "synthesize": {
        // Within a stream, the event repeats the text for servers that do not stream.
        if (this.#incoming) return;
        const manner = await this.#admitNext(event.voice);
        return this.#speak(wholeUtterance(event.text, manner, limits.textCharacters));
      }
      case "synthesize-start": {
        if (this.#incoming) throw outOfOrder("synthesize-stop must precede the next synthesize-start.");
        const manner = await this.#admitNext(event.voice);
        this.#incoming = streamedUtterance(manner, limits.textCharacters);
        return this.#speak(this.#incoming);
      }
      case "synthesize-chunk":
        return this.#openUtterance(event.type).add(event.text);
      case "synthesize-stop":
        this.#openUtterance(event.type).end();
        this.#incoming = undefined;
    }
  }

  /** A closed connection is not busy: it only waits for its client to close it as well. */
  get #isBusy(): boolean {
    const isOver = this.#over.signal.aborted;
    return !isOver && (this.#incoming !== undefined || this.#speaking !== undefined);
  }

  get #client(): string {
    return this.#socket.remoteAddress ?? "";
  }

  /**
   * Waits for the utterance in progress, and admits the next one as a request.
   * @throws the error that refuses the request
   */
  async #admitNext(voice: RequestedVoice): Promise<Manner> {
    await this.#speaking;
    this.#over.signal.throwIfAborted();
    if (this.#isDraining) throw shuttingDown;
    const { caller, configOf } = this.#options.services;
    const { websiteId } = await tryWithMore(() => caller.admit(this.#client), this.#over.signal);
    this.#counted.events = 0;
    return mannerOf(voice, configOf(websiteId));
  }

  /**
   * Limits the events between requests. Requests have the limits of their key.
   * @throws {RateLimited}
   */
  #countEvent(): void {
    const { time, limits } = this.#options;
    if (time.now() - this.#counted.startedAt >= 60_000) this.#counted = { startedAt: time.now(), events: 0 };
    if (++this.#counted.events > limits.eventsPerMinute) throw tooManyEvents(limits.eventsPerMinute);
  }

  #openUtterance(type: string): StreamedUtterance {
    if (!this.#incoming) throw outOfOrder(`synthesize-start must precede ${type}.`);
    return this.#incoming;
  }

  #speak(utterance: Utterance): void {
    const { services, log } = this.#options;
    const { signal } = this.#over;
    const spoken = speakUtterance(utterance, {
      ...{ services, signal, log },
      send: (event) => this.#send(event),
    });
    this.#speaking = spoken
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        this.#speaking = undefined;
        this.#activeAt = this.#options.time.now();
        this.#closeWhenIdle();
        if (this.#isDraining) this.#close();
      });
  }

  /** @throws the reason for which the connection has ended */
  async #send(event: Buffer): Promise<void> {
    const { time, limits } = this.#options;
    const { signal } = this.#over;
    signal.throwIfAborted();
    if (!this.#socket.write(event)) {
      const deadline = { time, ms: limits.stallMs, onTimeout: () => clientStalled, signal };
      await withDeadline(deadline, (either) => once(this.#socket, "drain", { signal: either }));
    }
    this.#activeAt = time.now();
  }

  #fail(error: unknown): void {
    if (this.#over.signal.aborted) return;
    const { log } = this.#options;
    if (error === clientStalled) {
      log.info("disconnected a client that does not read");
      this.destroy();
      return;
    }
    const presented = presentError(error);
    if (isInternalError(presented)) log.error({ err: error }, "failed");
    log.info({ status: presented.status, ...describeRefusal(error) }, "refused");
    this.#close(errorEvent(error), error);
  }

  /**
   * Sends the last event and closes the connection. Further data is read and discarded, because a
   * reset could discard the event before the client has read it. `reason`: why the utterance in
   * progress ends.
   */
  #close(last?: Buffer, reason: unknown = connectionOver): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(reason);
    this.#cancelIdleTimer?.();
    const { time, limits } = this.#options;
    if (last) this.#socket.end(last);
    else this.#socket.end();
    this.#socket.resume();
    const cancel = time.after(limits.lingerMs, () => this.destroy());
    void this.ended.then(cancel);
  }

  #closeWhenIdle(): void {
    const { time, limits } = this.#options;
    this.#cancelIdleTimer?.();
    if (this.#over.signal.aborted) return;
    const left = this.#activeAt + (this.#isBusy ? limits.utteranceIdleMs : limits.idleMs) - time.now();
    if (left <= 0) {
      this.#close();
      return;
    }
    this.#cancelIdleTimer = time.after(left, () => this.#closeWhenIdle());
  }
}

const connectionOver = new Error("The connection has ended.");
const clientStalled = new Error("The client does not read.");
const shuttingDown = new Unavailable("The service is shutting down: retry.", 1);

const tooManyEvents = (limit: number): RateLimited =>
  new RateLimited(`More than ${limit} events in a minute.`, "minute", 60);

const outOfOrder = (message: string): Invalid => new Invalid([{ path: [], message }]);
