import koffi from "koffi";
import type { Libav } from "./libav.ts";

/**
 * ffmpeg's names of sample formats: integers of 16 bits or floats. With "p", each channel has its
 * own memory.
 */
export type SampleFormat = "s16" | "s16p" | "fltp";

export const sampleBytes: Readonly<Record<SampleFormat, number>> = { s16: 2, s16p: 2, fltp: 4 };

interface Conversion {
  /** The sample rates, in Hz, of the input (`from`) and of the output (`to`). */
  readonly from: number;
  readonly to: number;
  readonly format: SampleFormat;
}

/** The most samples of a call. */
const maxSamples = 8192;
/**
 * The most samples that a call returns in addition to its own: those that the resampler has held
 * back.
 */
const maxHeld = 1024;

/** Converts s16 mono samples as the program ffmpeg does. */
export const openResampler = (libav: Libav, { from, to, format }: Conversion, owned: DisposableStack) => {
  if (from === to && format !== "fltp")
    return { convert: (pcm: Buffer) => pcm, finish: () => Buffer.alloc(0) };

  const resampler = libav.allocResampler();
  owned.defer(() => libav.freeResampler([resampler]));
  const options = {
    in_sample_fmt: "s16",
    out_sample_fmt: format,
    in_chlayout: "mono",
    out_chlayout: "mono",
    in_sample_rate: String(from),
    out_sample_rate: String(to),
  };
  for (const [name, value] of Object.entries(options))
    if (libav.setOption(resampler, name, value, 0) < 0) throw new Error(`The resampler refuses ${name}.`);
  if (libav.startResampler(resampler) < 0) throw new Error(`${from} Hz cannot be resampled to ${to} Hz.`);

  const memory = (bytes: number) => {
    const address = libav.malloc(bytes);
    owned.defer(() => libav.free(address));
    return { address, bytes: Buffer.from(koffi.view(address, bytes)) };
  };
  const space = Math.ceil((maxSamples * to) / from) + maxHeld;
  const input = memory(2 * maxSamples);
  const output = memory(sampleBytes[format] * space);
  const call = (from: unknown, samples: number): Buffer => {
    const count = libav.resample(resampler, [output.address], space, from, samples);
    if (count < 0) throw new Error(`The resampler failed with ${count}.`);
    return Buffer.from(output.bytes.subarray(0, count * sampleBytes[format]));
  };

  return {
    convert: (pcm: Buffer): Buffer => {
      const parts: Buffer[] = [];
      for (let at = 0; at < pcm.length; at += input.bytes.length) {
        const part = pcm.subarray(at, at + input.bytes.length);
        input.bytes.set(part);
        parts.push(call([input.address], part.length / 2));
      }
      return Buffer.concat(parts);
    },
    /** Returns the samples that were held back. */
    finish: (): Buffer => {
      const parts: Buffer[] = [];
      for (let part = call(null, 0); part.length > 0; part = call(null, 0)) parts.push(part);
      return Buffer.concat(parts);
    },
  };
};
