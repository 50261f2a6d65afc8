import { setTimeout as delay } from "node:timers/promises";
import { type EncodedFormat, encodedFormats } from "../../../domain/synthesis/formats.ts";
import type { ToolProcess } from "../exit-failure.ts";
import { type EncoderProcess, startFfmpeg } from "./ffmpeg.ts";

/** An idle encoder that dies is replaced after this delay. */
const replaceDelayMs = 500;

export type EncoderPool = ReturnType<typeof startEncoderPool>;

/**
 * Keeps idle encoders, each for one job, because ffmpeg takes longer to start (57 ms, mostly
 * dynamic linking) than to encode a sentence. A format has idle encoders once its first job has
 * ended: most services are asked for one or two formats only.
 */
export const startEncoderPool = (ahead: Readonly<Partial<Record<EncodedFormat, number>>>) => {
  const idle = Object.fromEntries(encodedFormats.map((format) => [format, new Set()])) as Record<
    EncodedFormat,
    Set<EncoderProcess>
  >;

  const startAhead = (format: EncodedFormat): void => {
    const encoder = startFfmpeg(format);
    idle[format].add(encoder);
    void encoder.gone.then(async () => {
      if (!idle[format].delete(encoder)) return;
      await delay(replaceDelayMs, undefined, { ref: false });
      refill(format);
    });
  };

  const refill = (format: EncodedFormat): void => {
    while (idle[format].size < (ahead[format] ?? 0)) startAhead(format);
  };

  return {
    /** Returns an idle encoder, or a new one. */
    acquire: (format: EncodedFormat): ToolProcess => {
      const [waiting] = idle[format];
      if (waiting) idle[format].delete(waiting);
      const encoder = waiting ?? startFfmpeg(format);
      // Further encoders are started when this one has exited, because they would compete with it
      // for the CPU. But after the first job of a format, one encoder should always be idle.
      if (waiting && idle[format].size === 0) startAhead(format);
      else void encoder.gone.then(() => refill(format));
      return encoder;
    },
    killIdle: (): void => {
      for (const format of encodedFormats) for (const encoder of idle[format]) encoder.kill();
    },
  };
};
