import { expect } from "chai";
import { trimSilence } from "../../src/pcm/trim-silence.ts";
import { collect } from "../support/collect.ts";

const pcm = (samples: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(2 * samples.length);
  for (const [at, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * at);
  return bytes;
};

const samplesIn = (bytes: Buffer): number[] =>
  Array.from({ length: bytes.length >> 1 }, (_, at) => bytes.readInt16LE(2 * at));

async function* inChunks(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("Leading and trailing silence of a piece", () => {
  const spoken = [0, 1, -1, 0, 500, 0, 0, 0, -700, 0, 1, 0, 0];
  for (const [rule, limits, expected] of [
    ["is unchanged without limits", {}, spoken],
    ["is shortened at the beginning", { leading: 1 }, spoken.slice(3)],
    ["is shortened at the end", { trailing: 2 }, spoken.slice(0, 11)],
    ["is removed at both ends, and never within the piece", { leading: 0, trailing: 0 }, spoken.slice(4, 9)],
    ["is never lengthened", { leading: 50, trailing: 50 }, spoken],
  ] as const) {
    it(`${rule}, however the bytes are chunked`, async () => {
      for (const size of [1, 2, 3, 7, 100]) {
        const received = await collect(trimSilence(inChunks(pcm(spoken), size), { ...limits, silence: 1 }));
        expect(samplesIn(Buffer.concat(received)), `${size}`).to.deep.equal(expected);
      }
    });
  }
});
