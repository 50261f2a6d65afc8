import { z } from "zod";
import { Invalid } from "../domain/errors.ts";
import { parse } from "../domain/validation.ts";
import type { ReceivedEvent } from "./events.ts";

export interface EventLimits {
  /** Of the header line, and of the data after it. */
  readonly jsonBytes: number;
  /** Of the payload, which is skipped. */
  readonly payloadBytes: number;
}

/** Reads events from the chunks of a connection, wherever these are cut. */
export interface EventParser {
  /** The events that the chunk completes. To be read to the end before the next call. @throws {Invalid} for anything else */
  push(chunk: Buffer): Generator<ReceivedEvent, void>;
}

const length = z.int().min(0).nullish();
const header = z.object({
  type: z.string().min(1).max(100),
  data: z.record(z.string(), z.unknown()).nullish(),
  data_length: length,
  payload_length: length,
});

type Header = z.output<typeof header>;

const newline = 0x0a;

/** A buffer takes more memory than its bytes, and a client may send single bytes. */
const maxParts = 64;

export const createEventParser = ({ jsonBytes, payloadBytes }: EventLimits): EventParser => {
  /** The beginning of what is being read: a header line, or the data of `open`. */
  let parts: Buffer[] = [];
  let held = 0;
  /** The event whose header was read. */
  let open: Header | undefined;
  let payloadLeft = 0;

  const hold = (bytes: Buffer): void => {
    if (parts.length === maxParts) parts = [Buffer.concat(parts)];
    parts.push(bytes);
    held += bytes.length;
  };
  const take = (): Buffer => {
    const bytes = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    parts = [];
    held = 0;
    return bytes;
  };

  /** Returns the rest of the chunk. */
  const readHeader = (chunk: Buffer): Buffer => {
    const end = chunk.indexOf(newline);
    hold(end === -1 ? chunk : chunk.subarray(0, end));
    if (held > jsonBytes) throw tooLong("The event's header", jsonBytes);
    if (end === -1) return chunk.subarray(chunk.length);
    open = parse(header, parseJson(take()));
    if ((open.data_length ?? 0) > jsonBytes) throw tooLong("The event's data", jsonBytes);
    payloadLeft = open.payload_length ?? 0;
    if (payloadLeft > payloadBytes) throw tooLong("The event's payload", payloadBytes);
    return chunk.subarray(end + 1);
  };

  /** Returns the event when it is complete, and the rest of the chunk. */
  const readBody = (event: Header, chunk: Buffer): [ReceivedEvent | undefined, Buffer] => {
    const wanted = (event.data_length ?? 0) - held;
    const data = chunk.subarray(0, wanted);
    if (data.length > 0) hold(data);
    if (data.length < wanted) return [undefined, chunk.subarray(data.length)];
    const skipped = Math.min(payloadLeft, chunk.length - data.length);
    payloadLeft -= skipped;
    const rest = chunk.subarray(data.length + skipped);
    if (payloadLeft > 0) return [undefined, rest];
    const more = event.data_length ? parse(z.record(z.string(), z.unknown()), parseJson(take())) : {};
    open = undefined;
    return [{ type: event.type, data: { ...event.data, ...more } }, rest];
  };

  return {
    *push(chunk) {
      let rest = chunk;
      while (rest.length > 0 || open) {
        if (!open) {
          rest = readHeader(rest);
          continue;
        }
        const [event, left] = readBody(open, rest);
        rest = left;
        if (event) yield event;
        else if (rest.length === 0) return;
      }
    },
  };
};

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
