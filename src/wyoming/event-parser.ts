import { z } from "zod";
import { Invalid } from "../domain/errors.ts";
import { parse } from "../domain/validation.ts";
import type { ReceivedEvent } from "./events.ts";

export interface EventLimits {
  /** The maximum length of the header line, and of the data after it. */
  readonly jsonBytes: number;
  /** The maximum length of the payload, which is skipped. */
  readonly payloadBytes: number;
}

const length = z.int().min(0).nullish();
const members = z.record(z.string(), z.unknown());
const header = z.object({
  type: z.string().min(1).max(100),
  data: members.nullish(),
  data_length: length,
  payload_length: length,
});

type Header = z.output<typeof header>;

const newline = 0x0a;

/**
 * This many parts are joined to one: a buffer takes more memory than its bytes, and a client may
 * send single bytes.
 */
const maxParts = 64;

/** Reads events from the chunks of a connection, wherever these are cut. */
export class EventParser {
  readonly #limits: EventLimits;
  /** The received part of a header line, or of the data of `#open`. */
  #parts: Buffer[] = [];
  #held = 0;
  /** The event whose header was read, and whose body is incomplete. */
  #open: Header | undefined;
  #payloadLeft = 0;

  constructor(limits: EventLimits) {
    this.#limits = limits;
  }

  /**
   * Yields the events that the chunk completes. The caller must read all of them before the next
   * call.
   * @throws {Invalid} for a malformed or too long event
   */
  *push(chunk: Buffer): Generator<ReceivedEvent, void> {
    let rest = chunk;
    while (rest.length > 0 || this.#open) {
      if (!this.#open) {
        rest = this.#readHeader(rest);
        continue;
      }
      const [event, left] = this.#readBody(this.#open, rest);
      rest = left;
      if (event) yield event;
      else if (rest.length === 0) return;
    }
  }

  /** Returns the rest of the chunk. */
  #readHeader(chunk: Buffer): Buffer {
    const { jsonBytes, payloadBytes } = this.#limits;
    const end = chunk.indexOf(newline);
    this.#hold(end === -1 ? chunk : chunk.subarray(0, end));
    if (this.#held > jsonBytes) throw tooLong("The event's header", jsonBytes);
    if (end === -1) return chunk.subarray(chunk.length);
    const open = parse(header, parseJson(this.#take()));
    this.#open = open;
    if ((open.data_length ?? 0) > jsonBytes) throw tooLong("The event's data", jsonBytes);
    this.#payloadLeft = open.payload_length ?? 0;
    if (this.#payloadLeft > payloadBytes) throw tooLong("The event's payload", payloadBytes);
    return chunk.subarray(end + 1);
  }

  /** Returns the event when it is complete, and the rest of the chunk. */
  #readBody(event: Header, chunk: Buffer): [ReceivedEvent | undefined, Buffer] {
    const wanted = (event.data_length ?? 0) - this.#held;
    const data = chunk.subarray(0, wanted);
    if (data.length > 0) this.#hold(data);
    if (data.length < wanted) return [undefined, chunk.subarray(data.length)];
    const skipped = Math.min(this.#payloadLeft, chunk.length - data.length);
    this.#payloadLeft -= skipped;
    const rest = chunk.subarray(data.length + skipped);
    if (this.#payloadLeft > 0) return [undefined, rest];
    const more = event.data_length ? parse(members, parseJson(this.#take())) : {};
    this.#open = undefined;
    return [{ type: event.type, data: { ...event.data, ...more } }, rest];
  }

  #hold(bytes: Buffer): void {
    if (this.#parts.length === maxParts) this.#parts = [Buffer.concat(this.#parts)];
    this.#parts.push(bytes);
    this.#held += bytes.length;
  }

  #take(): Buffer {
    const bytes = this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#held = 0;
    return bytes;
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** @throws {Invalid} without quoting the text */
const parseJson = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    throw invalid("An event begins with a line of JSON in UTF-8; its data is JSON too.");
  }
};

const tooLong = (what: string, bytes: number): Invalid => invalid(`${what} is longer than ${bytes} bytes.`);
const invalid = (message: string): Invalid => new Invalid([{ path: [], message }]);
