import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import createCommand from "fluent-ffmpeg";
import { type EncodedFormat, formats } from "../../domain/synthesis/formats.ts";
import { exitFailure, signalFailure, type ToolProcess } from "./exit-failure.ts";

/**
 * The only file that knows fluent-ffmpeg (2.1.3, archived). What one must know of it:
 * - it hands its own environment to ffmpeg, and looks for ffmpeg on PATH;
 * - before its first command it asks ffmpeg for its formats and encoders (300 ms) and keeps the answers;
 * - when its output stream emits `close`, it fails the command 20 ms later, even one that is just ending well:
 *   so the output is a stream that never closes;
 * - before the process has started there is nothing to kill, and `kill` says so to nobody.
 */

/**
 * One thread each: several would only wait for one another. ffmpeg limits itself: its processor time in seconds, and
 * in bytes what it allocates at once; it keeps no more of a stream than a few packets.
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

/** The same bytes for the same samples, each packet as soon as it is there. */
const outputOptions = [
  "-threads 1",
  "-map_metadata -1",
  "-fflags +bitexact",
  "-flags:a +bitexact",
  "-flush_packets 1",
];

/** Makes fluent-ffmpeg ask ffmpeg what it can do, so that no encoder waits for that. */
export const loadCapabilities = (): Promise<void> =>
  new Promise((resolve) => {
    createCommand().availableFormats(() => createCommand().availableEncoders(() => resolve()));
  });

export interface EncoderProcess extends ToolProcess {
  /** Answers when the process is gone, whatever became of it. */
  readonly gone: Promise<void>;
}

/** Starts ffmpeg; it takes a WAV stream of one channel whenever that comes. */
export const startFfmpeg = (format: EncodedFormat): EncoderProcess => {
  const { encoder } = formats[format];
  const input = new PassThrough();
  const output = new PassThrough({ autoDestroy: false });
  const command = createCommand({ source: input, stdoutLines: 20 })
    .inputOptions([...inputOptions])
    .audioCodec(encoder.codec)
    .audioChannels(1)
    .outputOptions([...outputOptions, ...encoder.options])
    .format(format);

  const ended = new Promise<void>((resolve, reject) => {
    command.on("end", () => resolve());
    command.on("error", ({ message }, _stdout, stderr) => {
      const [signal = ""] = /SIG[A-Z]+$/.exec(message) ?? []; // "ffmpeg was killed with signal SIGKILL"
      reject(signalFailure("ffmpeg", signal) ?? exitFailure("ffmpeg", stderr ?? ""));
    });
  });
  const gone = ended.catch(() => undefined).finally(() => output.end());

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

/** ffmpeg writes packet by packet, a few hundred bytes: taken together they cost a tenth of the messages. */
const gatherMs = 2;

async function* read(output: PassThrough, ended: Promise<void>): AsyncIterable<Buffer> {
  for await (const bytes of output.iterator({ destroyOnReturn: false })) {
    yield bytes;
    await delay(gatherMs);
  }
  await ended;
}
