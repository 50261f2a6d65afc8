import { expect } from "chai";
import { resample } from "../../src/pcm/resample.ts";
import { collect } from "../support/collect.ts";

const tone = (hertz: number, sampleRate: number, seconds: number): Buffer => {
  const pcm = Buffer.alloc(2 * Math.round(sampleRate * seconds));
  for (let at = 0; at < pcm.length; at += 2) {
    pcm.writeInt16LE(Math.round(10_000 * Math.sin((Math.PI * hertz * at) / sampleRate)), at);
  }
  return pcm;
};
const inChunks = async function* (pcm: Buffer, bytes: number) {
  for (let at = 0; at < pcm.length; at += bytes) yield pcm.subarray(at, at + bytes);
};
const resampled = async (pcm: Buffer, from: number, to: number, bytes = 1_001): Promise<Buffer> =>
  Buffer.concat(await collect(resample(inChunks(pcm, bytes), from, to)));
const loudnessOf = (pcm: Buffer): number => {
  let sum = 0;
  for (let at = 0; at < pcm.length; at += 2) sum += pcm.readInt16LE(at) ** 2;
  return Math.sqrt((2 * sum) / pcm.length);
};

describe("Resampled audio", () => {
  for (const [from, to] of [
    [16_000, 22_050],
    [22_050, 16_000],
    [22_050, 24_000],
    [8_000, 48_000],
  ] as const) {
    it(`is the same tone at another rate: ${from} to ${to} Hz`, async () => {
      const out = await resampled(tone(440, from, 0.5), from, to);
      const wanted = tone(440, to, 0.5);
      expect(out.length).to.equal(wanted.length);
      let most = 0;
      for (let at = 200; at < out.length - 200; at += 2)
        most = Math.max(most, Math.abs(out.readInt16LE(at) - wanted.readInt16LE(at)));
      expect(most).to.be.below(150);
    });
  }

  it("has no tones above half the lower rate", async () => {
    const high = await resampled(tone(10_500, 22_050, 0.5), 22_050, 16_000);
    expect(loudnessOf(high)).to.be.below(100);
  });

  it("does not depend on the chunks", async () => {
    const pcm = tone(300, 16_000, 0.2);
    const whole = await resampled(pcm, 16_000, 22_050, pcm.length);
    for (const bytes of [1, 2, 7, 640])
      expect((await resampled(pcm, 16_000, 22_050, bytes)).equals(whole)).to.equal(true);
  });

  it("is made in blocks, however small the chunks are", async () => {
    const blocks = await collect(resample(inChunks(tone(300, 16_000, 1), 2), 16_000, 22_050));
    expect(blocks.length).to.be.within(2, 10);
  });

  it("is unchanged at the same rate", async () => {
    const pcm = tone(300, 16_000, 0.1);
    expect((await resampled(pcm, 16_000, 16_000)).equals(pcm)).to.equal(true);
  });
});
