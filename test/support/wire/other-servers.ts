import { wavHeader } from "../../../src/domain/synthesis/wav-header.ts";
import type { WireResponse } from "./faults.ts";
import { makeSound, type SoundFormat } from "./made-sound.ts";

/** What a request to `audio/speech` asks for. */
export interface AskedSpeech {
  readonly text: string;
  readonly voice: string;
  readonly format: string;
}

/** A server with OpenAI's API that chooses the format of its audio itself. */
export interface OtherServer {
  readonly name: string;
  readonly speak: (asked: AskedSpeech) => Promise<WireResponse>;
  /** True if its audio in this requested format is exact. */
  readonly isExact: (format: string) => boolean;
}

const samplesOf = ({ text, voice }: AskedSpeech, sampleRate: number): Promise<Buffer> =>
  makeSound({ text, voice, format: { kind: "pcm", sampleRate } });

const response = (body: Buffer, type?: string): WireResponse => ({
  status: 200,
  headers: type === undefined ? {} : { "Content-Type": type },
  body,
});

interface WavShape {
  readonly sampleRate: number;
  readonly channels?: number;
  readonly bits?: 8 | 16 | 24 | 32;
  readonly isFloat?: boolean;
  readonly isExtensible?: boolean;
  /** Written instead of the true sizes. */
  readonly size?: number;
  /** True if a LIST chunk is before and after the samples. */
  readonly hasList?: boolean;
}

const integer = 1;
const float = 3;
const extensible = 0xfffe;

/** Makes a WAV of this shape from s16le samples in one channel. */
export const makeWav = (samples: Buffer, shape: WavShape): Buffer => {
  const {
    sampleRate,
    channels = 1,
    bits = 16,
    isFloat = false,
    isExtensible = false,
    hasList = false,
  } = shape;
  const bytes = bits / 8;
  const data = Buffer.alloc((samples.length / 2) * channels * bytes);
  for (let frame = 0; frame < samples.length / 2; frame++) {
    for (let channel = 0; channel < channels; channel++) {
      write(data, (frame * channels + channel) * bytes, samples.readInt16LE(2 * frame), { bits, isFloat });
    }
  }
  const kind = isFloat ? float : integer;
  const format = Buffer.alloc(isExtensible ? 40 : 16);
  format.writeUInt16LE(isExtensible ? extensible : kind, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(sampleRate, 4);
  format.writeUInt32LE(sampleRate * channels * bytes, 8);
  format.writeUInt16LE(channels * bytes, 12);
  format.writeUInt16LE(bits, 14);
  if (isExtensible) {
    format.writeUInt16LE(22, 16);
    format.writeUInt16LE(bits, 18);
    format.writeUInt16LE(kind, 24);
    format.write("000000001000800000aa00389b71", 26, "hex");
  }
  const list = hasList ? [chunk("LIST", Buffer.from("INFOISFT\x0d\0\0\0Lavf59.27.100\0", "latin1"))] : [];
  const chunks = [...list, chunk("fmt ", format), chunk("data", data, shape.size), ...list];
  const content = Buffer.concat(chunks);
  return Buffer.concat([chunk("RIFF", Buffer.from("WAVE"), shape.size ?? content.length + 4), content]);
};

const chunk = (name: string, content: Buffer, size = content.length): Buffer => {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
};

const write = (
  data: Buffer,
  at: number,
  sample: number,
  { bits, isFloat }: { bits: number; isFloat: boolean },
): void => {
  if (isFloat) data.writeFloatLE(sample / 32_768, at);
  else if (bits === 8) data.writeUInt8(Math.min(255, Math.round(sample / 256) + 128), at);
  else data.writeIntLE(sample * 2 ** (bits - 16), at, bits / 8);
};

const always = () => true;
const ifSamples = (format: string): boolean => format === "pcm";

const sendsWav = (name: string, type: string, shape: WavShape): OtherServer => ({
  name,
  isExact: always,
  speak: async (asked) => response(makeWav(await samplesOf(asked, shape.sampleRate), shape), type),
});

/** What ffmpeg makes of each requested format. */
const kinds: Readonly<Record<string, readonly [SoundFormat["kind"], string]>> = {
  mp3: ["mp3", "audio/mpeg"],
  opus: ["opus", "audio/ogg;codec=opus"],
  aac: ["aac", "audio/aac"],
  flac: ["flac", "audio/x-flac"],
  wav: ["streamed wav", "audio/wav"],
};

const sends = (name: string, type: string, kind: SoundFormat["kind"], sampleRate: number): OtherServer => ({
  name,
  isExact: () => kind === "flac",
  speak: async ({ text, voice }) =>
    response(await makeSound({ text, voice, format: { kind, sampleRate } }), type),
});

/** Servers that behave like those of these names, and servers of other plausible kinds. */
export const otherServers: readonly OtherServer[] = [
  sendsWav("LocalAI, with a WAV labelled audio/mpeg", "audio/mpeg", { sampleRate: 22_050, hasList: true }),
  sendsWav("Piper, with a WAV of 22,050 Hz", "audio/wav", { sampleRate: 22_050 }),
  {
    name: "openedai-speech, with samples of 22,050 Hz and streams of ffmpeg",
    isExact: (format) => ["pcm", "wav", "flac"].includes(format),
    speak: async (asked) => {
      const [kind, type] = kinds[asked.format] ?? [];
      if (!kind || !type) return response(await samplesOf(asked, 22_050), "audio/pcm;rate=22050");
      const { text, voice } = asked;
      return response(await makeSound({ text, voice, format: { kind, sampleRate: 22_050 } }), type);
    },
  },
  {
    name: "Kokoro-FastAPI, with a WAV of unknown size",
    isExact: always,
    speak: async (asked) => {
      const samples = await samplesOf(asked, 24_000);
      if (asked.format === "pcm") return response(samples, "audio/pcm");
      return response(Buffer.concat([wavHeader(24_000, 0xffff_ffff), samples]), `audio/${asked.format}`);
    },
  },
  {
    name: "LiteLLM, with samples labelled audio/mpeg",
    isExact: ifSamples,
    speak: async (asked) => {
      if (asked.format === "pcm") return response(await samplesOf(asked, 24_000), "audio/mpeg");
      const { text, voice } = asked;
      return response(
        await makeSound({ text, voice, format: { kind: "mp3", sampleRate: 24_000 } }),
        "audio/mpeg",
      );
    },
  },
  sends("a server that sends mp3 for everything", "audio/mpeg", "mp3", 44_100),
  sends("a server that labels mp3 as samples", "audio/pcm", "mp3", 24_000),
  sends("a server that sends Opus for everything", "application/octet-stream", "opus", 48_000),
  sends("a server that sends FLAC for everything", "audio/wav", "flac", 48_000),
  sends("a server that sends AAC for everything", "audio/mp4", "aac", 24_000),
  sendsWav("a server of 8 bit, 16 kHz", "audio/x-wav", { sampleRate: 16_000, bits: 8 }),
  sendsWav("a server of 24 bit, stereo, 48 kHz", "audio/wav", { sampleRate: 48_000, bits: 24, channels: 2 }),
  sendsWav("a server of 32 bit, 96 kHz", "audio/wave", { sampleRate: 96_000, bits: 32 }),
  sendsWav("a server of floats without a content type", "", { sampleRate: 24_000, bits: 32, isFloat: true }),
  sendsWav("a server with the extensible form of WAV", "audio/vnd.wave", {
    ...{ sampleRate: 44_100, channels: 2, bits: 24, isExtensible: true, hasList: true },
  }),
  {
    name: "a server that changes its sample rate",
    isExact: always,
    speak: async (asked) => {
      const sampleRate = asked.text.startsWith("The quick") ? 22_050 : 48_000;
      return response(makeWav(await samplesOf(asked, sampleRate), { sampleRate }), "audio/wav");
    },
  },
  sendsWav("a server whose WAV has the size 0", "audio/mpeg", { sampleRate: 24_000, size: 0 }),
];
