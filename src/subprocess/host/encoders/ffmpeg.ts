import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import createCommand, { type Encoder, type FfmpegCommand } from "fluent-ffmpeg";
import { type ProcessEnd, processEnd } from "../../../domain/process-end.ts";
import { type EncodedFormat, formats } from "../../../domain/synthesis/formats.ts";
import { endFailure, type ToolProcess } from "../exit-failure.ts";

/**
 * This is the only module that uses fluent-ffmpeg (2.1.3, archived), which has these quirks:
 * - It passes its environment to ffmpeg, and searches PATH.
 * - Before its first command it would run ffmpeg twice (300 ms) to read the formats and encoders:
 *   `capabilities` returns them instead.
 * - If its output stream emits `close`, it fails the command 20 ms later, even a command that is
 *   ending: so the output is never closed.
 * - `kill` does nothing before the process has started.
 * - The event `end` means that the process has exited. Up to 200 KB of output can still be unread
 *   in the pipe then: so the output of a successful process ends with its stdout.
 */

/**
 * ffmpeg uses one thread, because several would wait for each other. It limits its own CPU time (in
 * seconds) and allocations (in bytes), and buffers only a few packets.
 */
const inputOptions = [
  "-hide_banner",
  "-loglevel error",
  "-timelimit 60",
  `-max_alloc ${64 * 1024 * 1024}`,
  "-threads 1",
  "-probesize 32",
  "-analyzeduration 0",
  "-f wav",
];
const asArguments = (options: readonly string[]): string[] => options.flatMap((option) => option.split(" "));
export const inputArguments: readonly string[] = asArguments(inputOptions);
/** Returns the output options that `startFfmpeg` uses, as arguments of a command line. */
export const outputArguments = (format: EncodedFormat): string[] => {
  const { codec, muxer, options } = formats[format].encoder;
  const all = [`-acodec ${codec}`, "-ac 1", ...outputOptions, ...options, `-f ${muxer}`];
  return asArguments(all);
};

/** The output is deterministic, and packets are flushed at once. */
const outputOptions = [
  "-threads 1",
  "-map_metadata -1",
  "-fflags +bitexact",
  "-flags:a +bitexact",
  "-flush_packets 1",
];

type EncoderOptions = (typeof formats)[EncodedFormat]["encoder"];

/**
 * Replaces the functions with which fluent-ffmpeg asks ffmpeg, before a command, what it can do. If
 * ffmpeg lacks something, it reports this itself.
 */
const capabilities = ({
  codec,
  muxer,
}: EncoderOptions): Pick<FfmpegCommand, "availableFormats" | "availableEncoders"> => {
  const format = { description: "", canDemux: true, canMux: true };
  const encoder = { type: "audio", experimental: false } as Encoder;
  return {
    availableFormats: (callback) => callback(noError, { wav: format, [muxer]: format }),
    availableEncoders: (callback) => callback(noError, { [codec]: encoder }),
  };
};

/** The types require an error. fluent-ffmpeg itself passes null on success. */
const noError = null as unknown as Error;

export interface EncoderProcess extends ToolProcess {
  /** Resolves when the process has exited, successfully or not. */
  readonly gone: Promise<void>;
}

/** Starts ffmpeg, which waits for a WAV stream of one channel. */
export const startFfmpeg = (format: EncodedFormat): EncoderProcess => {
  const { encoder } = formats[format];
  const input = new PassThrough();
  const output = new PassThrough({ autoDestroy: false });
  const command = createCommand({ source: input, stdoutLines: 20 })
    .inputOptions([...inputOptions])
    .audioCodec(encoder.codec)
    .audioChannels(1)
    .outputOptions([...outputOptions, ...encoder.options])
    .format(encoder.muxer);
  Object.assign(command, capabilities(encoder));

  const ended = new Promise<void>((resolve, reject) => {
    command.on("end", () => resolve());
    command.on("error", ({ message }, _stdout, stderr) => {
      reject(endFailure("ffmpeg", stderr ?? "", endIn(message)));
    });
  });
  const gone = ended.catch(() => void output.end());

  let killed = false;
  command.on("start", () => {
    if (killed) command.kill("SIGKILL");
  });
  command.pipe(output);
  return {
    input,
    output: read(output, ended),
    kill: () => {
      killed = true;
      command.kill("SIGKILL");
    },
    gone,
  };
};

/** The message is "ffmpeg was killed with signal SIGKILL", or "ffmpeg exited with code 1: …". */
const endIn = (message: string): ProcessEnd => {
  const [, signal = null] = /with signal (SIG[A-Z0-9]+)$/.exec(message) ?? [];
  const [, code] = /exited with code (\d+)/.exec(message) ?? [];
  return processEnd(code === undefined ? null : Number(code), signal);
};

/**
 * ffmpeg writes packets of a few hundred bytes. Joining the packets of this time saves nine tenths
 * of the messages.
 */
const gatherMs = 2;

async function* read(output: PassThrough, ended: Promise<void>): AsyncIterable<Buffer> {
  for await (const bytes of output.iterator({ destroyOnReturn: false })) {
    yield bytes;
    await delay(gatherMs);
  }
  await ended;
}
