import { PassThrough } from "node:stream";
import { ToolFailed } from "../../tools.ts";
import type { ToolProcess } from "../exit-failure.ts";
import type { LameLibrary, LameStream } from "./library.ts";

/** The canonical header, whose sizes are ignored: its sample rate is known. */
const headerBytes = 44;

/** Encodes one mp3 as a tool's process does. Its input is a WAV of one channel. */
export const startLame = (library: LameLibrary, sampleRate: number, isShort: boolean): ToolProcess => {
  const input = new PassThrough();
  input.on("error", () => undefined); // reported by the output
  const killed = new AbortController();
  return {
    input,
    output: encode(library.open(sampleRate, isShort), samplesOf(input), killed.signal),
    kill: () => {
      const failure = new ToolFailed("killed", "The encoder was stopped.");
      killed.abort(failure);
      input.destroy(failure);
    },
  };
};

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
    const whole = bytes.length - (bytes.length % 2);
    odd = Buffer.from(bytes.subarray(whole));
    if (whole > 0) yield bytes.subarray(0, whole);
  }
}

async function* encode(
  stream: LameStream,
  pcm: AsyncIterable<Buffer>,
  killed: AbortSignal,
): AsyncGenerator<Buffer> {
  try {
    for await (const samples of pcm) {
      const frames = await stream.encode(samples);
      killed.throwIfAborted();
      if (frames.length > 0) yield frames;
    }
    const end = await stream.finish();
    if (end.length > 0) yield end;
  } finally {
    stream.close();
  }
}
