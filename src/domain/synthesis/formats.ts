import { fixedRateFormats, lamePadding, mp3Options, opusOptions } from "./fixed-rate-formats.ts";

/**
 * An output format. The table below is the only list of formats: to add one, see the tasks in
 * CONTRIBUTING.md. Every format can be streamed: its first bytes do not depend on later ones,
 * except for the length in some headers (`hasLengthInHeader`), which a stream leaves out.
 */
export interface FormatTraits {
  /** The ending of object names and URLs, without the dot. */
  readonly extension: string;
  /** The same for all formats with this extension. */
  readonly mimeType: string;
  /**
   * The version of its encoding, 1 if absent. Raise it with every change of the bytes, or names
   * would lead to old audio. A test enforces it.
   */
  readonly version?: number;
  /**
   * True if `/v2` offers it for the engines whose tables list it. If false, only compatible APIs
   * offer it.
   */
  readonly inV2: boolean;
  /** `src/audio/formats/containers.ts` checks it for truncation and measures its duration. */
  readonly container: string;
  /**
   * The sample rate in Hz. If absent, the audio has the rate of the voice, or one that the codec
   * supports.
   */
  readonly sampleRate?: number;
  /**
   * The way in which ffmpeg encodes it. If absent, the audio consists of a header and raw samples,
   * and needs no encoder.
   */
  readonly encoder?: {
    /** ffmpeg's names of codec and container. */
    readonly codec: string;
    readonly muxer: string;
    readonly options: readonly string[];
    /**
     * The number of encoder processes that wait for the next job, once the first job of the format
     * has ended.
     */
    readonly idle: number;
    /** The fewest and the most samples that the encoder may add, at its own sample rate. */
    readonly padding: readonly [min: number, max: number];
  };
}

export const formats = {
  mp3: {
    extension: "mp3",
    mimeType: "audio/mpeg",
    inV2: true,
    container: "mpeg",
    encoder: {
      codec: "libmp3lame",
      muxer: "mp3",
      // Noise shaping is not needed at 64 kbit/s: without it (level 7) LAME takes half the time,
      // and the segmental signal-to-noise ratio of speech rises from 21.7 to 22.6 dB.
      options: [...mp3Options(64), "-compression_level 7"],
      idle: 3,
      padding: lamePadding,
    },
  },
  ogg: {
    extension: "ogg",
    mimeType: "audio/ogg",
    inV2: true,
    container: "ogg",
    // Vorbis keeps the exact number of samples.
    encoder: { codec: "libvorbis", muxer: "ogg", options: [], idle: 1, padding: [0, 0] },
  },
  wav: { extension: "wav", mimeType: "audio/wav", inV2: true, container: "wav" },
  opus: {
    extension: "opus",
    mimeType: "audio/ogg; codecs=opus", // RFC 7845, section 9
    inV2: false,
    container: "ogg",
    sampleRate: 48_000,
    encoder: {
      codec: "libopus",
      muxer: "opus",
      options: opusOptions(32),
      idle: 0,
      padding: [0, 0],
    },
  },
  flac: {
    extension: "flac",
    mimeType: "audio/flac",
    inV2: false,
    container: "flac",
    // By default, the muxer would reserve 8 KB for tags.
    encoder: {
      codec: "flac",
      muxer: "flac",
      options: ["-metadata_header_padding 0"],
      idle: 0,
      padding: [0, 0],
    },
  },
  aac: {
    extension: "aac",
    mimeType: "audio/aac",
    inV2: false,
    container: "adts",
    // The padding is the encoder's delay, and the rest of the last frame.
    encoder: { codec: "aac", muxer: "adts", options: ["-b:a 64k"], idle: 0, padding: [1024, 1024 + 1023] },
  },
  pcm: {
    extension: "pcm",
    mimeType: "audio/pcm",
    inV2: false,
    container: "samples",
    sampleRate: 24_000,
    encoder: { codec: "pcm_s16le", muxer: "s16le", options: ["-ar 24000"], idle: 0, padding: [0, 0] },
  },
  ...fixedRateFormats,
} as const satisfies Readonly<Record<string, FormatTraits>>;

export type AudioFormat = keyof typeof formats;
/** The formats that ffmpeg encodes. */
export type EncodedFormat = {
  [Format in AudioFormat]: (typeof formats)[Format] extends { encoder: object } ? Format : never;
}[AudioFormat];
/**
 * Containers of self-hosted servers' audio, by the names of the demuxers with which ffmpeg reads
 * them.
 */
export type DecodedContainer = "mp3" | "ogg" | "flac" | "aac";
export type MimeType = (typeof formats)[AudioFormat]["mimeType"];
export type Container = (typeof formats)[AudioFormat]["container"];

/** The formats that requests to `/v2` may name. */
type V2Format = {
  [Format in AudioFormat]: (typeof formats)[Format] extends { inV2: true } ? Format : never;
}[AudioFormat];

export const audioFormats = Object.keys(formats) as AudioFormat[];
export const v2Formats = audioFormats.filter((format): format is V2Format => formats[format].inV2);
export const encodedFormats = audioFormats.filter((format) => isEncoded(format));

export function isEncoded(format: AudioFormat): format is EncodedFormat {
  return "encoder" in formats[format];
}

const containersWithLength: readonly Container[] = ["wav", "flac"];

/** True if the samples follow a header that states their number. */
export const hasLengthInHeader = (format: AudioFormat): boolean =>
  containersWithLength.includes(formats[format].container);

/** The MIME types of all formats, by extension. */
const mimeTypes: ReadonlyMap<string, MimeType> = new Map(
  audioFormats.map((format) => [formats[format].extension, formats[format].mimeType]),
);
export const audioExtensions = [...mimeTypes.keys()];

/** A regular expression's alternatives for all extensions. */
export const extensionPattern = `(${audioExtensions.join("|")})`;

/**
 * The MIME type of an object, by the extension of its name.
 * @throws {TypeError} for another name
 */
export const mimeTypeOf = (audioName: string): MimeType => {
  const mimeType = mimeTypes.get(audioName.slice(audioName.lastIndexOf(".") + 1));
  if (!mimeType) throw new TypeError("The name has no extension of an output format.");
  return mimeType;
};
