import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { wavHeader } from "../../src/domain/synthesis/wav-header.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { openRecogniser } from "../support/listening/recogniser.ts";
import type { Sound } from "../support/local-voice.ts";
import { measureLoudness } from "../support/loudness.ts";
import {
  joinedSpeech,
  type NaturalSpeech,
  openNaturalEngine,
  sayNaturally,
} from "../support/natural-engine.ts";
import { medianPitch } from "../support/pitch.ts";
import { temporaryFolder } from "../support/service.ts";
import { openToolHost } from "../support/tool-host.ts";
import { naturalSentences } from "./natural-sentences.ts";

/** Words that begin with a plosive, before which there is a short silence. */
const lists: Readonly<Record<string, readonly [lang: string, text: string]>> = {
  "kokoro:bf_emma": ["en-GB", "Paper, coffee, table, ticket, people, kitchen."],
  "kokoro:ef_dora": ["es-ES", "Papel, camino, tierra, puerta, cocina, tomate."],
};

const sentencesIn = (lang: string): readonly string[] => (naturalSentences[lang] ?? []).slice(1, 4);

/** In milliseconds, where audio of at least -40 dB begins after 30 ms without. */
const onsetsOf = ({ samples, sampleRate }: Sound): number[] => {
  const windowMs = 5;
  const size = (windowMs * sampleRate) / 1000;
  const found: number[] = [];
  let quiet = 6;
  for (let at = 0; at + size <= samples.length; at += size) {
    const energy = samples.subarray(at, at + size).reduce((sum, sample) => sum + sample ** 2, 0);
    if (Math.sqrt(energy / size) < 328) quiet++;
    else {
      if (quiet >= 6) found.push((1000 * at) / sampleRate);
      quiet = 0;
    }
  }
  return found;
};

/** The longest silence between two parts of the audio, in seconds. */
const longestPauseOf = ({ samples, sampleRate }: Sound): number => {
  let [longest, last] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    if (Math.abs(sample) < 100) continue;
    if (last > 0) longest = Math.max(longest, at - last);
    last = at;
  }
  return longest / sampleRate;
};

describe("Kokoro's voices, where scripts/natural-voices --kokoro has installed them", () => {
  let host: SubprocessHost;
  let engine: Engine;
  before(async function () {
    host = await openToolHost();
    const opened = await openNaturalEngine(host, [
      ...["kokoro:af_heart", "kokoro:if_sara"],
      ...Object.keys(lists),
    ]);
    // `scripts/natural-voices --kokoro` installs it.
    if (!opened) return this.skip();
    engine = opened;
  });
  after(() => host.close());

  const say = (voice: string, lang: string, text: string, pitch = 1): Promise<NaturalSpeech> =>
    sayNaturally(engine, { voice, lang, text, pitch });

  const expectLevel = async (spoken: readonly NaturalSpeech[]): Promise<void> => {
    const { lufs, peak } = await measureLoudness(joinedSpeech(spoken));
    expect(lufs).to.be.closeTo(-23, 0.75);
    expect(peak).to.be.at.most(-1);
    for (const one of spoken) expect(longestPauseOf(one)).to.be.at.most(0.6);
  };

  it("speak at -23 LUFS without long pauses, and are understood: kokoro:af_heart", async () => {
    const folder = await temporaryFolder();
    const recogniser = openRecogniser();
    try {
      const spoken: NaturalSpeech[] = [];
      let [errors, words] = [0, 0];
      for (const text of sentencesIn("en-US")) {
        const speech = await say("kokoro:af_heart", "en-US", text);
        const file = join(folder.path, `${spoken.push(speech)}.wav`);
        const pcm = Buffer.from(speech.samples.buffer);
        await writeFile(file, Buffer.concat([wavHeader(speech.sampleRate, pcm.length), pcm]));
        const heard = await recogniser.listen(file, text);
        errors += heard.errors;
        words += heard.words;
      }
      await expectLevel(spoken);
      expect(errors / words).to.be.at.most(0.08);
    } finally {
      await recogniser.close();
      await folder.remove();
    }
  });

  it("speak at -23 LUFS without clipping where the model's samples exceed 1: kokoro:if_sara", async () => {
    const spoken: NaturalSpeech[] = [];
    for (const text of sentencesIn("it-IT")) spoken.push(await say("kokoro:if_sara", "it-IT", text));
    await expectLevel(spoken);
  });

  for (const [voice, [lang, text]] of Object.entries(lists)) {
    it(`mark words within 100 ms of their onsets: ${voice}`, async () => {
      const speech = await say(voice, lang, text);
      const onsets = onsetsOf(speech);
      const words = speech.marks.filter(({ type }) => type === "word");
      expect(words).to.have.length(6);
      for (const { time, start, end } of words) {
        const nearest = Math.min(...onsets.map((onset) => Math.abs(onset - time)));
        expect(nearest, text.slice(start, end)).to.be.at.most(100);
      }
    });
  }

  it("have the pitch that is asked for: kokoro:af_heart", async () => {
    const pitchAt = async (pitch: number): Promise<number | undefined> =>
      medianPitch(await say("kokoro:af_heart", "en-US", "We know all the men.", pitch));
    expect(((await pitchAt(0)) ?? 0) / ((await pitchAt(1)) ?? 1)).to.be.closeTo(2 / 3, 0.07);
  });
});
