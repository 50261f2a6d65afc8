import { EngineFailed } from "../../domain/errors.ts";
import type { EpochMs } from "../../domain/time.ts";
import { nodeHttp } from "../../node-http.ts";
import { parseJson } from "../parse-json.ts";
import type { UpstreamResponse } from "./exchange.ts";
import { messageFromBody } from "./redact.ts";
import { UnprovenEnd, UpstreamFailed } from "./request-failed.ts";

const mebibyte = 1024 * 1024;

/**
 * Reads the body.
 * @throws {UpstreamFailed} if it is larger than `maxBytes`
 * @throws the errors of the body
 */
export const readBody = async ({ body }: UpstreamResponse, maxBytes: number): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > maxBytes) throw invalidResponse(`it is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
};

/**
 * Parses the body, whatever the status.
 * @throws {UpstreamFailed} if it is too large or not JSON
 */
export const readJson = async (response: UpstreamResponse, maxBytes = mebibyte): Promise<unknown> => {
  const body = endedByContent(response.body);
  const json = parseJson((await readBody({ ...response, body }, maxBytes)).toString("utf8"));
  if (json === undefined) throw invalidResponse("it is not JSON");
  return json;
};

/**
 * Reads content that is unusable unless it is complete, such as JSON. Such a body needs no proof of
 * its end.
 */
async function* endedByContent(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield* body;
  } catch (error) {
    if (!(error instanceof UnprovenEnd)) throw error;
  }
}

/**
 * Creates the error of a response that does not follow the provider's API. `words`: the provider's
 * own words.
 */
export const invalidResponse = (why: string, words?: string): UpstreamFailed => {
  const loggable = `The response of the speech provider is invalid: ${why}`;
  const message = words === undefined ? loggable : `${loggable}: ${words.replace(/\.$/, "")}`;
  return new UpstreamFailed(`${message}.`, { stage: "answer", loggable: `${loggable}.` });
};

/**
 * Creates the error of audio that cannot be used. The cause may be the text, so the error does not
 * count against the circuit breaker.
 */
export const invalidAudio = (why: string): EngineFailed =>
  new EngineFailed(`The response of the speech provider is invalid: ${why}.`);

interface ErrorFromOptions {
  /** The strings that must not appear in messages: the credentials and the text. */
  readonly hidden?: readonly string[];
  /** `Retry-After` may be a date. */
  readonly clock?: () => EpochMs;
}

/**
 * Creates the error of a status outside of 2xx, with the provider's redacted message. Reads the
 * response.
 */
export const errorFrom = async (
  response: UpstreamResponse,
  { hidden = [], clock = Date.now }: ErrorFromOptions = {},
): Promise<UpstreamFailed> => {
  const { status } = response;
  const words = messageFromBody(await readStart(response), hidden);
  const generic = `The speech provider responded with an error (HTTP ${status} ${nodeHttp.STATUS_CODES[status] ?? "unknown"}).`;
  return new UpstreamFailed(words ?? generic, {
    stage: "answer",
    status,
    loggable: generic,
    retryAfterSeconds: retryAfterSeconds(response, clock),
  });
};

const enoughBytes = 16 * 1024;

/**
 * Reads the start of a body and ends the response. An error of the body is ignored: the caller
 * reports a failure already.
 */
export const readStart = async ({ body }: UpstreamResponse): Promise<string> => {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of body) {
      pieces.push(piece);
      size += piece.length;
      if (size >= enoughBytes) break;
    }
  } catch (error) {
    if (!(error instanceof UpstreamFailed)) throw error;
  }
  return Buffer.concat(pieces, size).toString("utf8", 0, enoughBytes);
};

const longestRetryAfter = 24 * 60 * 60;

/** `Retry-After` in seconds, between 1 and a day; undefined if absent or invalid. */
export const retryAfterSeconds = ({ headers }: UpstreamResponse, clock = Date.now): number | undefined => {
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - clock()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), longestRetryAfter);
};
