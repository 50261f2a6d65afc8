/** An output format. The table below is the only list of formats: adding one begins with a row here. */
export interface FormatTraits {
  /** Of object names and URLs, without the dot. */
  readonly extension: string;
  readonly mimeType: string;
  /** Checked for truncation and measured by src/audio/formats/containers.ts. */
  readonly container: string;
  /** How ffmpeg encodes it. Absent: raw samples behind a header, which needs no encoder. */
  readonly encoder?: {
    /** ffmpeg's name of the codec. */
    readonly codec: string;
    readonly options: readonly string[];
    /** Encoder processes that are started ahead of requests. */
    readonly idle: number;
    /** Samples that the encoder may add, fewest and most. */
    readonly padding: readonly [min: number, max: number];
  };
}

export const formats = {
  mp3: {
    extension: "mp3",
    mimeType: "audio/mpeg",
    container: "mpeg",
    encoder: {
      codec: "libmp3lame",
      // 64 kbit/s, constant, without tags.
      options: ["-b:a 64k", "-write_xing 0", "-id3v2_version 0", "-write_id3v1 0"],
      idle: 3,
      // LAME adds its delay (576 samples) and the decoder's (529), and fills its last frames.
      padding: [1105, 1105 + 2 * 1152],
    },
  },
  ogg: {
    extension: "ogg",
    mimeType: "audio/ogg",
    container: "ogg",
    // Vorbis keeps the exact number of samples.
    encoder: { codec: "libvorbis", options: [], idle: 1, padding: [0, 0] },
  },
  wav: { extension: "wav", mimeType: "audio/wav", container: "wav" },
} as const satisfies Readonly<Record<string, FormatTraits>>;

export type AudioFormat = keyof typeof formats;
/** The formats that ffmpeg encodes. */
export type EncodedFormat = {
  [Format in AudioFormat]: (typeof formats)[Format] extends { encoder: object } ? Format : never;
}[AudioFormat];
export type MimeType = (typeof formats)[AudioFormat]["mimeType"];
export type Container = (typeof formats)[AudioFormat]["container"];

export const audioFormats = Object.keys(formats) as AudioFormat[];
export const encodedFormats = audioFormats.filter((format) => isEncoded(format));

export function isEncoded(format: AudioFormat): format is EncodedFormat {
  return "encoder" in formats[format];
}

/** A regular expression's alternatives for all extensions. */
export const extensionPattern = `(${audioFormats.map((format) => formats[format].extension).join("|")})`;

/** The format of an object's name, by its extension. @throws {TypeError} for another name */
export const formatOf = (objectName: string): AudioFormat => {
  const format = audioFormats.find((one) => objectName.endsWith(`.${formats[one].extension}`));
  if (!format) throw new TypeError("The name has no extension of an output format.");
  return format;
};
