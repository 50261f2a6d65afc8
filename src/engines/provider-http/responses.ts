import { STATUS_CODES } from "node:http";
import type { UpstreamResponse } from "./messages.ts";
import { messageFromBody } from "./redact.ts";
import { UpstreamFailed } from "./request-failed.ts";

const mebibyte = 1024 * 1024;

/** The whole body. @throws {UpstreamFailed} it is larger, or what `body` throws */
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

/** The JSON of an answer, whatever its status. @throws {UpstreamFailed} too large, or no JSON */
export const readJson = async (answer: UpstreamResponse, maxBytes = mebibyte): Promise<unknown> => {
  const text = (await readBody(answer, maxBytes)).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw invalidResponse("it is no JSON");
  }
};

/** An answer that came, and is not what the provider's interface says. */
export const invalidResponse = (why: string): UpstreamFailed =>
  new UpstreamFailed(`The speech provider's answer cannot be used: ${why}.`, { stage: "answer" });

export interface ErrorFromOptions {
  /** What must not be repeated even if the provider does: the credentials, and the text. */
  readonly hidden?: readonly string[];
  /** Milliseconds since the epoch: a `Retry-After` may be a date. */
  readonly clock?: () => number;
}

/** What a status outside of 2xx says, with the provider's own words as far as they can be passed on. Ends the answer. */
export const errorFrom = async (
  answer: UpstreamResponse,
  { hidden = [], clock = Date.now }: ErrorFromOptions = {},
): Promise<UpstreamFailed> => {
  const { status } = answer;
  const words = messageFromBody(await readStart(answer), hidden);
  const wordless = `The speech provider refused (HTTP ${status} ${STATUS_CODES[status] ?? "unknown"}).`;
  return new UpstreamFailed(words ?? wordless, {
    stage: "answer",
    status,
    retryAfterSeconds: retryAfterSeconds(answer, clock),
  });
};

const enoughBytes = 16 * 1024;

/** Enough of a body for words; one that breaks off is no reason to tell another failure than what it says. Ends the answer. */
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

/** `Retry-After` in seconds, at least 1 and at most a day; undefined for what says nothing. */
export const retryAfterSeconds = ({ headers }: UpstreamResponse, clock = Date.now): number | undefined => {
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - clock()) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), longestRetryAfter);
};
