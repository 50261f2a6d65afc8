import koffi from "koffi";
import type { Encoding } from "./encoding.ts";
import type { Libav } from "./libav.ts";
import { openResampler, type SampleFormat, sampleBytes } from "./libav-resampler.ts";

/** The encoder in a row of the table of formats. */
export interface LibavTarget {
  readonly codec: string;
  readonly muxer: string;
  /** Options of ffmpeg's command line. */
  readonly options: readonly string[];
}

interface CodecInput {
  readonly format: SampleFormat;
  /** If undefined, the encoder takes any rate. */
  readonly rates?: readonly number[];
}

/**
 * The input of each codec. Its sample format is the one that the program ffmpeg chooses among those
 * that the codec takes.
 */
const codecInputs: Readonly<Record<string, CodecInput>> = {
  libmp3lame: {
    format: "s16p",
    rates: [44_100, 48_000, 32_000, 22_050, 24_000, 16_000, 11_025, 12_000, 8000],
  },
  libvorbis: { format: "fltp" },
  libopus: { format: "s16", rates: [48_000, 24_000, 16_000, 12_000, 8000] },
  aac: {
    format: "fltp",
    rates: [
      ...[96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025],
      ...[8000, 7350],
    ],
  },
  flac: { format: "s16" },
  pcm_s16le: { format: "s16" },
  pcm_mulaw: { format: "s16" },
  pcm_alaw: { format: "s16" },
};

const tryAgain = -11; // AVERROR(EAGAIN)
const endOfFile = -541_478_725; // AVERROR_EOF
const withPrivateOptions = 1; // AV_OPT_SEARCH_CHILDREN
/**
 * The frame size for codecs that take frames of any size. They encode raw samples, whose bytes are
 * complete after each frame.
 */
const anyFrameSize = 1024;
const outputBytes = 32 * 1024;

/**
 * Encodes one audio with the parameters of the program ffmpeg (ffmpeg.ts), and gives the same
 * bytes, however the samples are divided into parts.
 * @throws {Error} if a library refuses a parameter
 */
export const startLibav = (libav: Libav, target: LibavTarget, sampleRate: number): Encoding => {
  using starting = new DisposableStack();
  const encoder = openEncoder(libav, target, sampleRate, starting);
  const resampler = openResampler(libav, { ...encoder.input, from: sampleRate }, starting);
  const owned = starting.move();
  return {
    encode: (pcm) => {
      encoder.encode(resampler.convert(pcm));
      return encoder.take();
    },
    finish: () => {
      encoder.encode(resampler.finish());
      encoder.finish();
      return encoder.take();
    },
    close: () => owned.dispose(),
  };
};

const openEncoder = (
  libav: Libav,
  { codec, muxer: muxerName, options }: LibavTarget,
  sampleRate: number,
  owned: DisposableStack,
) => {
  const { offsets } = libav;
  const input = codecInputs[codec];
  if (!input) throw new Error(`The codec ${codec} is not known.`);
  const settings = options.map(
    (option) => option.slice(1).replace(/:a /, " ").split(" ") as [string, string],
  );
  const asked = settings.find(([name]) => name === "ar")?.[1];
  const rate = asked === undefined ? nearest(sampleRate, input.rates) : Number(asked);
  const sampleFormat = libav.sampleFormat(input.format);

  const type = libav.findEncoder(codec);
  if (!type) throw new Error(`ffmpeg's libraries have no ${codec}.`);
  const context = libav.allocContext(type);
  owned.defer(() => libav.freeContext([context]));
  const allocated: [unknown] = [null];
  check(libav.allocMuxer(allocated, null, muxerName, null), "avformat_alloc_output_context2");
  const [muxer] = allocated;
  owned.defer(() => libav.freeMuxer(muxer));

  const set = (name: string, value: string): void => {
    if (libav.setOption(context, name, value, withPrivateOptions) >= 0) return;
    check(libav.setOption(muxer, name, value, withPrivateOptions), `The option ${name}`);
  };
  set("ar", String(rate));
  set("ch_layout", "mono");
  set("flags", "+bitexact");
  set("fflags", "+bitexact");
  for (const [name, value] of settings) if (name !== "ar") set(name, value);
  koffi.encode(context, offsets.context.sampleFormat, "int", sampleFormat);
  check(libav.openContext(context, type, null), "avcodec_open2");

  const stream = libav.addStream(muxer, null);
  check(
    libav.copyParameters(koffi.decode(stream, offsets.stream.parameters, "void *"), context),
    "avcodec_parameters_from_context",
  );
  // The program ffmpeg writes this tag.
  libav.setEntry(koffi.address(stream) + BigInt(offsets.stream.metadata), "encoder", `Lavc ${codec}`, 0);

  let written: Buffer[] = [];
  const { writer, unregister } = libav.registerWriter((bytes) => written.push(bytes));
  owned.defer(unregister);
  const output = libav.allocOutput(libav.malloc(outputBytes), outputBytes, 1, null, null, writer, null);
  owned.defer(() => {
    libav.free(koffi.decode(output, offsets.output.buffer, "void *"));
    libav.freeOutput([output]);
  });
  koffi.encode(muxer, offsets.muxer.output, "void *", output);
  check(libav.writeHeader(muxer, null), "avformat_write_header");

  const frameSize: number = koffi.decode(context, offsets.context.frameSize, "int") || anyFrameSize;
  const frame = openFrame(libav, { frameSize, rate, sampleFormat, bytes: sampleBytes[input.format] }, owned);
  const packet = libav.allocPacket();
  owned.defer(() => libav.freePacket([packet]));
  const timeBase = { num: 1, den: rate };
  const streamTimeBase = libav.readRational(stream, offsets.stream.timeBase);

  const writePackets = (): void => {
    for (;;) {
      const result = libav.receivePacket(context, packet);
      if (result === tryAgain || result === endOfFile) return;
      check(result, "avcodec_receive_packet");
      if (streamTimeBase.den !== rate) libav.rescaleTimes(packet, timeBase, streamTimeBase);
      check(libav.writePacket(muxer, packet), "av_write_frame");
    }
  };
  const frameBytes = frameSize * sampleBytes[input.format];
  let held: Buffer = Buffer.alloc(0);
  const encodeFrame = (samples: Buffer): void => {
    check(libav.sendFrame(context, frame.filledWith(samples)), "avcodec_send_frame");
    writePackets();
  };

  return {
    input: { format: input.format, to: rate },
    encode: (samples: Buffer): void => {
      const all = held.length === 0 ? samples : Buffer.concat([held, samples]);
      let at = 0;
      for (; at + frameBytes <= all.length; at += frameBytes) encodeFrame(all.subarray(at, at + frameBytes));
      held = Buffer.from(all.subarray(at));
    },
    finish: (): void => {
      if (held.length > 0) encodeFrame(held);
      check(libav.sendFrame(context, null), "avcodec_send_frame");
      writePackets();
      check(libav.writeTrailer(muxer), "av_write_trailer");
    },
    /** Returns the bytes that were written since the last call. */
    take: (): Buffer => {
      libav.flushOutput(output);
      const bytes = Buffer.concat(written);
      written = [];
      return bytes;
    },
  };
};

interface FrameShape {
  readonly frameSize: number;
  readonly rate: number;
  readonly sampleFormat: number;
  /** The size of a sample in bytes. */
  readonly bytes: number;
}

/** Creates the frame that passes samples to the codec. */
const openFrame = (
  libav: Libav,
  { frameSize, rate, sampleFormat, bytes }: FrameShape,
  owned: DisposableStack,
) => {
  const offsets = libav.offsets.frame;
  const frame = libav.allocFrame();
  owned.defer(() => libav.freeFrame([frame]));
  const fields = new DataView(koffi.view(frame, offsets.size));
  const setInt = (at: number, value: number) => fields.setInt32(at, value, isLittleEndian);
  setInt(offsets.samples, frameSize);
  setInt(offsets.format, sampleFormat);
  setInt(offsets.sampleRate, rate);
  setInt(offsets.channelLayout, 1); // AV_CHANNEL_ORDER_NATIVE
  setInt(offsets.channelLayout + 4, 1); // channels
  fields.setBigUint64(offsets.channelLayout + 8, 4n, isLittleEndian); // AV_CH_FRONT_CENTER
  const memory = libav.malloc(frameSize * bytes);
  owned.defer(() => libav.free(memory));
  const data = Buffer.from(koffi.view(memory, frameSize * bytes));
  koffi.encode(frame, offsets.data, "void *", memory);

  let time = 0;
  return {
    /**
     * Returns the frame with these samples. Its memory has no reference counter, so a codec copies
     * them.
     */
    filledWith: (samples: Buffer): unknown => {
      data.set(samples);
      const count = samples.length / bytes;
      setInt(offsets.samples, count);
      fields.setBigInt64(offsets.time, BigInt(time), isLittleEndian);
      time += count;
      return frame;
    },
  };
};

const isLittleEndian = true; // all processors that the project runs on are

const nearest = (rate: number, rates: readonly number[] = [rate]): number =>
  rates.reduce((best, one) => (Math.abs(one - rate) < Math.abs(best - rate) ? one : best));

const check = (result: number, name: string): void => {
  if (result < 0) throw new Error(`${name} failed with ${result}.`);
};
