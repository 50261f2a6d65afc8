import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import createCommand, { type Encoder, type FfmpegCommand } from "fluent-ffmpeg";
import { type EncodedFormat, formats } from "../../../domain/synthesis/formats.ts";
import { exitFailure, signalFailure, type ToolProcess } from "../exit-failure.ts";

/**
 * The only module that uses fluent-ffmpeg (2.1.3, archived). It passes its environment to ffmpeg
 * and searches PATH. Before its first command it would run ffmpeg twice (300 ms) to read its
 * formats and encoders, which `capabilities` returns instead. When its output stream emits `close`,
 * it fails the command 20 ms later, even one that is ending: so the output never closes. Before the
 * process has started, `kill` does nothing. Its `end` is the exit of the process: up to 200 KB of
 * output can be unread in the pipe by then, so only the end of stdout ends the output of a
 * successful process.
 */

/**
 * One thread: more would wait for each other. ffmpeg limits its own CPU time (seconds) and
 * allocations (bytes); it buffers only a few packets.
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
/** What `startFfmpeg` asks for, on a command line. */
export const outputArguments = (format: EncodedFormat): string[] => {
  const { codec, muxer, options } = formats[format].encoder;
  const all = [`-acodec ${codec}`, "-ac 1", ...outputOptions, ...options, `-f ${muxer}`];
  return asArguments(all);
};

/** Deterministic output; packets are flushed at once. */
const outputOptions = [
  "-threads 1",
  "-map_metadata -1",
  "-fflags +bitexact",
  "-flags:a +bitexact",
  "-flush_packets 1",
];

type EncoderOptions = (typeof formats)[EncodedFormat]["encoder"];

/**
 * fluent-ffmpeg asks ffmpeg for these before a command. ffmpeg itself reports what it
 * lacks.
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
  /** Resolves when the process has exited, in any way. */
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
      const [signal = ""] = /SIG[A-Z]+$/.exec(message) ?? []; // "ffmpeg was killed with signal SIGKILL"
      reject(signalFailure("ffmpeg", signal) ?? exitFailure("ffmpeg", stderr ?? ""));
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

/** ffmpeg writes packets of a few hundred bytes: joined, they cost a tenth of the messages. */
const gatherMs = 2;

async function* read(output: PassThrough, ended: Promise<void>): AsyncIterable<Buffer> {
  for await (const bytes of output.iterator({ destroyOnReturn: false })) {
    yield bytes;
    await delay(gatherMs);
  }
  await ended;
}
