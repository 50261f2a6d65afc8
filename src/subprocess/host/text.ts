import { Writable } from "node:stream";
import { untilAborted } from "../../async/deadline.ts";
import { isEncoded } from "../../domain/synthesis/formats.ts";
import { unknownSize, wavHeader } from "../../domain/synthesis/wav-header.ts";
import type {
  EncoderSpec,
  PieceSpec,
  SpeechSpec,
  SpokenPieceReport,
  TextRequest,
  TextResponse,
} from "../protocol.ts";
import { type PieceListener, type SpokenText, speakPieces } from "../speech/speak-pieces.ts";
import { ToolFailed } from "../tools.ts";
import { inParts } from "../window.ts";
import type { ToolProcess } from "./exit-failure.ts";
import { asToolFailed, LimitedProcess } from "./limited-process.ts";
import { abandoned } from "./text-job.ts";

interface TextOptions {
  readonly begin: (job: PieceSpec["job"]) => ToolProcess;
  readonly nameOf: (job: PieceSpec["job"]) => string;
  readonly encode: (
    spec: Pick<EncoderSpec, "format" | "sampleRate" | "lowPriority">,
    progressive: boolean,
  ) => ToolProcess;
  readonly ask: (number: number, request: TextRequest) => void;
  readonly onEncoding: (sampleRate: number) => void;
  readonly onSpoken: (report: SpokenPieceReport) => void;
}

interface Piece extends PieceSpec {
  readonly number: number;
}

/**
 * Speaks and encodes a text. Its tools run one after the other. Each needs a slot of the service,
 * so that tools of other texts can run in between.
 */
export const startText = (
  spec: SpeechSpec,
  { begin, nameOf, encode, onEncoding, onSpoken, ...options }: TextOptions,
): ToolProcess => {
  const stop = new AbortController();
  const { ask, onResponse } = createRequests(options.ask, stop.signal);
  const running = new Set<Promise<void>>();
  let pieces = 0;
  const numbered = (specs: readonly PieceSpec[]): Piece[] =>
    specs.map((spec) => ({ ...spec, number: pieces++ }));
  let spoken: SpokenText | undefined;

  const divide = async ({ number }: Piece, { failure }: ToolFailed): Promise<Piece[]> => {
    const { parts = [] } = await ask({ need: "parts", piece: number, failure });
    return numbered(parts);
  };
  async function* say(
    { number, job, input }: Piece,
    signal: AbortSignal,
    isContinuation: boolean,
    { onEnd, onStop }: PieceListener,
  ): AsyncGenerator<Buffer, void> {
    if (number > 0 || isContinuation)
      await untilAborted(ask({ need: "slot", piece: number, isContinuation }), signal);
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    let failure: ToolFailed | undefined = abandoned;
    let onAbort = (): void => undefined;
    try {
      signal.throwIfAborted();
      const toolProcess = begin(isContinuation && job.type !== "model" ? { ...job, lowPriority: true } : job);
      const limited = new LimitedProcess(nameOf(job), toolProcess, job, { onStop });
      onAbort = () => limited.stop(abandoned);
      signal.addEventListener("abort", onAbort, { once: true });
      toolProcess.input.end(input);
      yield* limited.output();
      failure = undefined;
      onEnd(toolProcess.spoken?.() ?? {});
    } catch (error) {
      failure = asToolFailed(nameOf(job), error);
      throw failure;
    } finally {
      signal.removeEventListener("abort", onAbort);
      onSpoken({ piece: number, failure: failure?.failure });
      running.delete(promise);
      resolve();
    }
  }

  async function* encoded(format: EncoderSpec["format"], text: SpokenText): AsyncGenerator<Buffer, void> {
    const { deadlineMs, maxOutputBytes, lowPriority, hasEncoder } = spec;
    if (!hasEncoder) await ask({ need: "encoder" });
    const { sampleRate } = text;
    const encoder = encode({ format, sampleRate, lowPriority }, spec.progressive);
    const limited = new LimitedProcess("ffmpeg", encoder, {
      ...{ type: "encoder", deadlineMs, maxOutputBytes, sampleRate },
    });
    stop.signal.addEventListener("abort", () => limited.stop(abandoned), { once: true });
    let failure: unknown;
    const feeding = feed(encoder.input, text, limited, stop.signal).catch((error: unknown) => {
      failure = error;
      limited.stop(asToolFailed("The text", error));
    });
    try {
      yield* limited.output();
    } catch (error) {
      if (failure !== undefined) throw failure;
      const { reason, message, end } = asToolFailed("ffmpeg", error);
      throw new ToolFailed(reason, message, { isOfEncoder: true, end });
    } finally {
      stop.abort(abandoned);
      await feeding;
    }
  }

  async function* read(): AsyncGenerator<Buffer, void> {
    try {
      const { progressive, format } = spec;
      spoken = await speakPieces(numbered(spec.pieces), { progressive, say, divide }, stop.signal);
      if (format !== undefined) onEncoding(spoken.sampleRate);
      yield* format !== undefined && isEncoded(format) ? encoded(format, spoken) : inWav(spoken);
    } finally {
      stop.abort(abandoned);
      await Promise.all(running);
    }
  }

  return {
    input: new Writable(), // the pieces are in the spec
    output: read(),
    spoken: () => spoken && { speech: spoken.report() },
    onResponse,
    kill: () => stop.abort(abandoned),
  };
};

/** Sends the requests of a text to the service. They fail when the text is stopped. */
const createRequests = (send: TextOptions["ask"], stopped: AbortSignal) => {
  const pending: ((response: TextResponse) => void)[] = [];
  return {
    /** @throws {ToolFailed} if the service refuses the request */
    ask: async (request: TextRequest): Promise<TextResponse> => {
      const responded = new Promise<TextResponse>((resolve) => pending.push(resolve));
      send(pending.length - 1, request);
      const response = await untilAborted(responded, stopped);
      if (response.isRefused) throw new ToolFailed("refused", "The service has refused it.");
      return response;
    },
    onResponse: (response: TextResponse): void => pending[response.number]?.(response),
  };
};

/**
 * Writes the samples to the encoder. The header of the input states the sample rate, so that an
 * idle encoder process fits every rate.
 */
const feed = async (
  input: ToolProcess["input"],
  { sampleRate, pcm }: SpokenText,
  limited: LimitedProcess,
  stopped: AbortSignal,
): Promise<void> => {
  // An encoder that has exited may never take the bytes: the callback might not be called.
  const write = (bytes: Buffer): Promise<void> =>
    untilAborted(new Promise((resolve) => input.write(bytes, () => resolve())), stopped);
  await write(wavHeader(sampleRate, unknownSize));
  for await (const chunk of pcm) {
    limited.extend(chunk);
    for (const bytes of inParts(chunk)) {
      await write(bytes);
    }
  }
  input.end();
};

/** Yields the header when the first samples arrive, not earlier. */
async function* inWav({ sampleRate, pcm }: SpokenText): AsyncGenerator<Buffer, void> {
  let header: Buffer | undefined = wavHeader(sampleRate, unknownSize);
  for await (const chunk of pcm) {
    if (header) yield header;
    header = undefined;
    yield chunk;
  }
}
