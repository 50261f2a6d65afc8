import { expect } from "chai";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { measureLoudness } from "../../support/loudness.ts";
import { openToolHost } from "../../support/tool-host.ts";

/** Uncorrected, the first is 6 LU louder than the second. */
const voices = [
  ["flite:slt", "en-US"],
  ["flite:rms", "en-US"],
  ["flite:awb", "en-GB"],
  ["espeak:gmw/en+f2", "en-GB"],
  ["espeak:gmw/en+klatt2", "en-GB"],
] as const;

const text =
  "The train to the coast leaves at nine, and arrives in time for lunch. Please do not forget your coat.";

const samplesOf = (pcm: Buffer): Int16Array => new Int16Array(pcm.buffer, pcm.byteOffset, pcm.length / 2);

describe("The loudness of local voices (EBU R128)", function () {
  const host = duringSuite(openToolHost);
  this.timeout(60_000);
  let engine: Engine;
  before(async () => {
    engine = (await localEngines({ host }))[0] ?? expect.fail("no tool is installed");
  });

  it("differs by at most 3 LU, with true peaks of at most -1 dBTP", async () => {
    const all: number[] = [];
    for (const [voice, lang] of voices) {
      const request = { text, ssml: false, voice, lang, prosody: normalProsody, format: "wav" } as const;
      const { encoding, audio } = await engine.synthesize(request, new AbortController().signal);
      if (encoding.kind !== "pcm") throw new Error("local voices return samples");
      const { lufs, peak } = await measureLoudness({
        samples: samplesOf(Buffer.concat(await collect(audio))),
        sampleRate: encoding.sampleRate,
      });
      expect(peak, voice).to.be.at.most(-1);
      all.push(lufs);
    }
    expect(Math.max(...all) - Math.min(...all), all.join(", ")).to.be.at.most(3);
  });
});
