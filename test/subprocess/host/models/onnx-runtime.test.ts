import { expect } from "chai";
import type { SpokenText } from "../../../../src/subprocess/host/frames.ts";
import { programOptions } from "../../../../src/subprocess/host/models/program-options.ts";
import { type SpeakerProcess, startSpeaker } from "../../../../src/subprocess/host/speaker-process.ts";

describe("The ONNX runtime of a speaker process", () => {
  let speaker: SpeakerProcess<number>;

  before(() => {
    speaker = startSpeaker<number>({
      name: "The chain",
      program: new URL("./stoppable-run.ts", import.meta.url),
      ...programOptions.hibari,
      memoryBytes: 1024 ** 3,
      lowPriority: false,
    });
  });
  after(async () => {
    speaker.kill();
    await speaker.gone;
  });

  /** A run of this many values takes minutes. */
  const endless = 1_000_000;

  interface Run {
    readonly wavs: number;
    readonly spoken: SpokenText;
  }
  const run = async (values: number, onWav: () => void, signal: AbortSignal): Promise<Run> => {
    const audio = speaker.speak(values, signal);
    for (let wavs = 0; ; wavs++) {
      const { value, done } = await audio.next();
      if (done) return { wavs, spoken: value };
      onWav();
    }
  };
  const runs = (): Promise<Run> => run(8, () => undefined, new AbortController().signal);

  it("stops in the middle of a run of a model when the text is cancelled, and runs it again", async () => {
    for (let round = 0; round < 3; round++) {
      const left = new AbortController();
      const { wavs, spoken } = await run(endless, () => left.abort(), left.signal);
      expect(wavs).to.equal(1);
      expect(spoken.events).to.have.lengthOf(1);
      expect(await runs()).to.have.nested.property("spoken.events").that.is.empty;
    }
  });

  it("does not begin the run of a text that is cancelled before", async () => {
    const { spoken } = await run(endless, () => undefined, AbortSignal.abort());
    expect(spoken.events).to.have.lengthOf(1);
    expect((await runs()).wavs).to.equal(2);
  });

  it("does not stop the run of a text because of the cancellation of the text before", async () => {
    const left = new AbortController();
    await run(8, () => left.abort(), left.signal);
    for (let round = 0; round < 20; round++) expect((await runs()).wavs).to.equal(2);
  });
});
