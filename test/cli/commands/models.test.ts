import { expect } from "chai";
import { runCli } from "../../support/cli-process.ts";
import { duringSuite } from "../../support/during.ts";
import { placePacks } from "../../support/models.ts";

describe("voxledger models check", () => {
  const packs = duringSuite(() => placePacks("piper", "kokoro", "broken"));

  const check = (...args: string[]) =>
    runCli(["models", "check", ...args], { MODEL_THREADS: "1", DATA_DIR: packs.folder });

  it("loads a pack, speaks with it, and prints its voices and its speed", async () => {
    const { stdout, exitCode } = await check(packs.path("piper"), "--json");
    expect(exitCode).to.equal(0);
    const checked = JSON.parse(stdout);
    expect(checked).to.deep.include({ name: "vits-piper-en_US-tiny-low", kind: "vits", threads: 1 });
    expect(checked.voices).to.deep.equal([
      { name: "Tiny (en-US)", lang: "en-US", gender: "f", voiceName: "sherpa:vits-piper-en_US-tiny-low#0" },
    ]);
    expect(checked.speech).to.deep.include({ sampleRate: 16_000, isReproducible: true });
    expect(checked.speech.realTimeFactor).to.be.above(0);
  });

  it("prints the same as text, and whether the bytes are reproducible", async () => {
    const { stdout } = await check(packs.path("kokoro"));
    expect(stdout)
      .to.match(/^model +kokoro-tiny-en \(kokoro\)\n/)
      .and.to.match(/^bytes +different each time: the first sound is kept$/m)
      .and.to.match(/^George \(en-GB\) +en-GB +m +sherpa:kokoro-tiny-en#1$/m);
  });

  it("fails with one line for a pack that cannot be used", async () => {
    const { stderr, exitCode } = await check(packs.path("broken"));
    expect(stderr).to.equal("error: The model lacks metadata: sample_rate.\n");
    expect(exitCode).to.equal(1);
  });
});
