import { PassThrough } from "node:stream";
import { ToolFailed } from "../../tools.ts";
import type { ToolProcess } from "../exit-failure.ts";
import type { ThreadEncoding } from "./threads.ts";

/** The length of the canonical header. It is skipped, because the sample rate is known. */
const headerBytes = 44;
/** Parts grow: the first bytes of audio leave early, and later parts cost fewer messages. */
const firstPartBytes = 4 * 1024;
const maxPartBytes = 64 * 1024;

/**
 * Encodes one audio by a thread, with the interface of a tool's process. The input is a WAV of one
 * channel. If `progressive` is false, the bytes are needed only at the end, so that all samples
 * that have arrived are encoded as one part.
 */
export const encodeAsProcess = (encoding: ThreadEncoding, progressive = true): ToolProcess => {
  const input = new PassThrough();
  input.on("error", () => undefined); // the output reports it
  const stop = new AbortController();
  return {
    input,
    output: encode(encoding, samplesOf(input), progressive, stop.signal),
    kill: () => {
      const failure = new ToolFailed("killed", "The encoder was stopped.");
      stop.abort(failure);
      input.destroy(failure);
      encoding.close();
    },
  };
};

async function* encode(
  encoding: ThreadEncoding,
  pcm: AsyncIterable<Buffer>,
  progressive: boolean,
  stopped: AbortSignal,
): AsyncGenerator<Buffer> {
  let limit = progressive ? firstPartBytes : Number.POSITIVE_INFINITY;
  try {
    for await (const samples of pcm) {
      let rest = samples;
      while (rest.length > 0) {
        const bytes = await encoding.encode(rest.subarray(0, limit), false);
        if (bytes.length > 0) yield bytes;
        stopped.throwIfAborted();
        rest = rest.subarray(limit);
        if (progressive) limit = Math.min(2 * limit, maxPartBytes);
      }
    }
    const end = await encoding.encode(Buffer.alloc(0), true);
    if (end.length > 0) yield end;
  } finally {
    encoding.close();
  }
}

/**
 * Yields the samples without the header, in parts of whole samples, as they arrive; drops half a
 * sample at the end.
 */
async function* samplesOf(wav: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let header = headerBytes;
  let odd: Buffer = Buffer.alloc(0);
  for await (const chunk of wav) {
    const samples = chunk.subarray(header);
    header = Math.max(0, header - chunk.length);
    const bytes = odd.length === 0 ? samples : Buffer.concat([odd, samples]);
    const end = bytes.length - (bytes.length % 2);
    odd = Buffer.from(bytes.subarray(end));
    if (end > 0) yield bytes.subarray(0, end);
  }
}
