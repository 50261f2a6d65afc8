/*
 * Formats with a sample rate and bit rate of their own, under the names that ElevenLabs' API gives
 * them. No voice speaks above 24 kHz: higher rates add nothing but compatibility. `opus_48000_32`
 * and `pcm_24000` are `opus` and `pcm`.
 */

/** LAME adds its delay (576 samples) and the decoder's (529), and fills its last frames. */
export const lamePadding = [1105, 1105 + 2 * 1152] as const;

/** Encodes mp3 at a constant bit rate, without tags. */
export const mp3Options = (kilobits: number) =>
  [`-b:a ${kilobits}k`, "-write_xing 0", "-id3v2_version 0", "-write_id3v1 0"] as const;

export const opusOptions = (kilobits: number) => [`-b:a ${kilobits}k`, "-page_duration 20000"] as const;

/** Only compatible APIs offer these formats. */
const fixedRate = <const Traits extends object, const Encoder>(
  sampleRate: number,
  traits: Traits,
  encoder: Encoder,
) => ({ ...traits, inV2: false, sampleRate, encoder }) as const;

const mp3 = (sampleRate: number, kilobits: number) =>
  fixedRate(
    sampleRate,
    { extension: "mp3", mimeType: "audio/mpeg", container: "mpeg" },
    {
      codec: "libmp3lame",
      muxer: "mp3",
      options: [`-ar ${sampleRate}`, ...mp3Options(kilobits)],
      idle: 0,
      padding: lamePadding,
    },
  );

const opus = (kilobits: number) =>
  fixedRate(
    48_000,
    { extension: "opus", mimeType: "audio/ogg; codecs=opus", container: "ogg" },
    { codec: "libopus", muxer: "opus", options: opusOptions(kilobits), idle: 0, padding: [0, 0] },
  );

/** Formats without padding: raw samples, with or without a header. */
const samples = (codec: string, muxer: string, sampleRate: number) =>
  ({ codec, muxer, options: [`-ar ${sampleRate}`], idle: 0, padding: [0, 0] }) as const;

const pcm = (sampleRate: number) =>
  fixedRate(
    sampleRate,
    { extension: "pcm", mimeType: "audio/pcm", container: "samples" },
    samples("pcm_s16le", "s16le", sampleRate),
  );

const wav = (sampleRate: number) =>
  fixedRate(
    sampleRate,
    { extension: "wav", mimeType: "audio/wav", container: "wav" },
    samples("pcm_s16le", "wav", sampleRate),
  );

export const fixedRateFormats = {
  mp3_22050_32: mp3(22_050, 32),
  mp3_24000_48: mp3(24_000, 48),
  mp3_44100_32: mp3(44_100, 32),
  mp3_44100_64: mp3(44_100, 64),
  mp3_44100_96: mp3(44_100, 96),
  mp3_44100_128: mp3(44_100, 128),
  mp3_44100_192: mp3(44_100, 192),
  opus_48000_64: opus(64),
  opus_48000_96: opus(96),
  opus_48000_128: opus(128),
  opus_48000_192: opus(192),
  pcm_8000: pcm(8_000),
  pcm_16000: pcm(16_000),
  pcm_22050: pcm(22_050),
  pcm_32000: pcm(32_000),
  pcm_44100: pcm(44_100),
  pcm_48000: pcm(48_000),
  wav_8000: wav(8_000),
  wav_16000: wav(16_000),
  wav_22050: wav(22_050),
  wav_24000: wav(24_000),
  wav_32000: wav(32_000),
  wav_44100: wav(44_100),
  wav_48000: wav(48_000),
  /** G.711, as telephony uses it. */
  ulaw_8000: fixedRate(
    8_000,
    // RFC 2046, section 4.3: μ-law, one channel, 8,000 Hz
    { extension: "ulaw", mimeType: "audio/basic", container: "bytes" },
    samples("pcm_mulaw", "mulaw", 8_000),
  ),
  alaw_8000: fixedRate(
    8_000,
    // RFC 4856, section 2.1.5
    { extension: "alaw", mimeType: "audio/PCMA", container: "bytes" },
    samples("pcm_alaw", "alaw", 8_000),
  ),
} as const;
