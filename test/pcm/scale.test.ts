import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { scale } from "../../src/pcm/read-samples.ts";

/** All 65,536 values of a sample. */
const samples = Int16Array.from({ length: 2 ** 16 }, (_, index) => index - 2 ** 15);
const pcm = Buffer.from(samples.buffer);

const scaled = async (chunks: readonly Buffer[], gain: number): Promise<Int16Array> => {
  const source = (async function* () {
    yield* chunks;
  })();
  const bytes = await buffer(scale(source, gain));
  return new Int16Array(Uint8Array.from(bytes).buffer);
};

describe("Scaled samples", () => {
  it("are the nearest values to their products, up to the largest one: -12 to 12 dB in tenths", async () => {
    for (let tenths = -120; tenths <= 120; tenths++) {
      const gain = 10 ** (tenths / 200);
      const expected = samples.map((sample) =>
        Math.max(-32_768, Math.min(32_767, Math.round(sample * gain))),
      );
      const isSame = Buffer.from((await scaled([pcm], gain)).buffer).equals(Buffer.from(expected.buffer));
      expect(isSame, String(gain)).to.equal(true);
    }
  });

  it("do not depend on the chunks, which may end within a sample", async () => {
    const chunks = [pcm.subarray(0, 1), pcm.subarray(1, 4098), pcm.subarray(4098)];
    expect(await scaled(chunks, 1.37)).to.deep.equal(await scaled([pcm], 1.37));
  });

  it("leave the source unchanged", async () => {
    const copy = Buffer.from(pcm);
    await scaled([copy], 2);
    expect(copy.equals(pcm)).to.equal(true);
  });
});
