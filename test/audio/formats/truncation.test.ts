import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { isTruncated } from "../../../src/audio/formats/containers.ts";
import { fixWavSizes } from "../../../src/audio/formats/wav.ts";
import { type AudioFormat, audioFormats, formats } from "../../../src/domain/synthesis/formats.ts";

const tone = (...output: string[]): Buffer => {
  const input = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=22050:duration=2"];
  return execFileSync("ffmpeg", ["-v", "error", ...input, ...output, "pipe:1"], {
    maxBuffer: 4 * 1024 * 1024,
  });
};

describe("Truncation detection", () => {
  const sounds = {
    mp3: [
      tone("-f", "mp3", "-b:a", "64k"),
      tone("-f", "mp3", "-q:a", "4", "-ar", "44100"),
      tone("-f", "mp3", "-b:a", "16k", "-ar", "11025", "-id3v2_version", "3", "-metadata", "title=t"),
    ],
    ogg: [tone("-f", "ogg", "-c:a", "libvorbis"), tone("-f", "ogg", "-c:a", "libopus")],
    wav: [fixWavSizes(tone("-f", "wav")), tone("-f", "wav")],
    opus: [tone("-f", "opus", "-c:a", "libopus")],
    flac: [tone("-f", "flac"), tone("-f", "flac", "-frame_size", "576", "-ac", "2")],
    aac: [tone("-f", "adts", "-c:a", "aac")],
    pcm: [tone("-f", "s16le")],
    ulaw_8000: [tone("-f", "mulaw", "-ar", "8000")],
  } as const;

  it("covers every container", () => {
    const covered = Object.keys(sounds).map((format) => formats[format as AudioFormat].container);
    expect(covered).to.include.members(audioFormats.map((format) => formats[format].container));
  });

  for (const [format, complete] of Object.entries(sounds)) {
    it(`accepts a complete ${format} file`, () => {
      for (const sound of complete) expect(isTruncated(format as AudioFormat, sound)).to.equal(false);
    });
  }

  it("reports an mp3 that stops within a frame", () => {
    for (const sound of sounds.mp3) {
      const unseen = lengths(sound, 2000).filter((length) => !isTruncated("mp3", sound.subarray(0, length)));
      expect(unseen.length, "only at the borders of frames").to.be.at.most(20);
    }
  });

  it("reports an ogg that stops within a page", () => {
    for (const sound of sounds.ogg) {
      const unseen = lengths(sound, 2000).filter((length) => !isTruncated("ogg", sound.subarray(0, length)));
      expect(unseen.length, "only at the borders of pages").to.be.at.most(2);
    }
  });

  it("reports an opus that stops within a page, and an aac that stops within a frame", () => {
    for (const format of ["opus", "aac"] as const) {
      const [sound] = sounds[format];
      const unseen = lengths(sound, 2000).filter((length) => !isTruncated(format, sound.subarray(0, length)));
      expect(unseen.length, format).to.be.at.most(20);
    }
  });

  it("reports a flac that stops within a frame or in its header, or whose bytes changed", () => {
    for (const sound of sounds.flac) {
      const unseen = lengths(sound, 500).filter((length) => !isTruncated("flac", sound.subarray(0, length)));
      expect(unseen.length, "only at the borders of frames").to.be.at.most(3);
      const damaged = Buffer.from(sound);
      damaged[sound.length - 500] = (damaged[sound.length - 500] ?? 0) ^ 1;
      expect(isTruncated("flac", damaged)).to.equal(true);
    }
    expect(isTruncated("flac", sounds.flac[0].subarray(0, 60))).to.equal(true);
  });

  it("reports a pcm that stops within a sample", () => {
    expect(isTruncated("pcm", sounds.pcm[0].subarray(1))).to.equal(true);
  });

  it("reports a wav that is shorter than its header declares", () => {
    const [mended] = sounds.wav;
    for (const length of lengths(mended, 100))
      expect(isTruncated("wav", mended.subarray(0, length))).to.equal(true);
  });

  it("ignores data of unknown formats", () => {
    for (const format of ["mp3", "ogg", "wav", "opus", "flac", "aac"] as const) {
      for (const bytes of [
        Buffer.alloc(0),
        Buffer.from([1]),
        Buffer.from("no sound at all"),
        Buffer.alloc(9000, 255),
      ])
        expect(isTruncated(format, bytes)).to.equal(false);
    }
  });

  it("accepts a complete file with a trailing tag", () => {
    const tagged = Buffer.concat([sounds.mp3[0], Buffer.from("TAG"), Buffer.alloc(125)]);
    expect(isTruncated("mp3", tagged)).to.equal(false);
  });
});

describe("The length fields of a wav that came through a pipe", () => {
  it("are replaced by the true lengths", () => {
    const mended = fixWavSizes(tone("-f", "wav"));
    const data = mended.indexOf("data");
    expect(mended.readUInt32LE(4)).to.equal(mended.length - 8);
    expect(mended.readUInt32LE(data + 4)).to.equal(mended.length - data - 8);
    expect(fixWavSizes(mended)).to.equal(mended);
  });

  it("are not written to data that is not a wav", () => {
    const bytes = Buffer.from("RIFF????no wave in here");
    expect(fixWavSizes(bytes)).to.equal(bytes);
  });
});

/** The lengths that remain after cutting various amounts off the end. */
const lengths = (sound: Buffer, most: number): number[] =>
  Array.from({ length: Math.min(most, sound.length - 1000) }, (_, i) => sound.length - 1 - i);
