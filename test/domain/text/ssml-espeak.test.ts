import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { parseSsml } from "../../../src/domain/text/ssml.ts";
import { type Sound, sayLocally } from "../../support/local-voice.ts";

const voice = "espeak:gmw/en-US+f3";
const say = (document: string): Promise<Sound> => sayLocally(voice, parseSsml(document), { ssml: true });
const seconds = ({ samples, sampleRate }: Sound): number => samples.length / sampleRate;
const loudness = ({ samples }: Sound): number => Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0));

describe("espeak-ng with validated SSML", () => {
  it("speaks slower with a prosody rate", async () => {
    const plain = seconds(await say("<speak>one two three</speak>"));
    const slow = seconds(await say('<speak><prosody rate="50%">one two three</prosody></speak>'));
    expect(slow).to.be.above(1.5 * plain);
  });

  it("speaks softer with a prosody volume", async () => {
    const plain = loudness(await say("<speak>one two three</speak>"));
    const soft = loudness(await say('<speak><prosody volume="x-soft">one two three</prosody></speak>'));
    expect(soft).to.be.below(0.7 * plain);
  });

  it("pauses at a break, and no longer than the maximum", async () => {
    const plain = seconds(await say("<speak>one two</speak>"));
    const paused = seconds(await say('<speak>one<break time="2s"/> two</speak>'));
    expect(paused - plain).to.be.within(1.5, 2.5);
    const longest = seconds(await say('<speak>one<break time="3600s"/> two</speak>'));
    expect(longest - plain).to.be.below(12);
  });

  it("never becomes extremely slow, however prosody is nested", async () => {
    const nested = `${'<prosody rate="20%">'.repeat(10)}one two three${"</prosody>".repeat(10)}`;
    expect(seconds(await say(`<speak>${nested}</speak>`))).to.be.below(10);
  });

  it("spells characters and speaks an alias", async () => {
    const word = seconds(await say("<speak>WWW</speak>"));
    const alias = await say('<speak><sub alias="a rather much longer alias">WWW</sub></speak>');
    expect(seconds(alias)).not.to.be.closeTo(word, 0.01);
    const spelt = await say('<speak><say-as interpret-as="characters">hello</say-as></speak>');
    expect(seconds(spelt)).to.be.above(1.2 * seconds(await say("<speak>hello</speak>")));
  });

  it("keeps the requested voice, whatever language the text declares", async () => {
    const plain = await say("<speak>one two three</speak>");
    expect(await say('<speak xml:lang="fr-FR">one two three</speak>')).to.deep.equal(plain);
    expect(await say('<speak><lang xml:lang="fr-FR">one two three</lang></speak>')).to.deep.equal(plain);
    expect(await say('<speak><voice name="gmw/de">one two three</voice></speak>')).to.deep.equal(plain);
  });

  it("speaks the words for which phonemes are given", async () => {
    const document = '<speak><phoneme alphabet="ipa" ph="wʌn">one</phoneme> two</speak>';
    expect(await say(document)).to.deep.equal(await say("<speak>one two</speak>"));
  });
});

describe("espeak-ng and files", () => {
  let folder: string;
  let sound: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "ssml-"));
    sound = join(folder, "sound.wav");
  });
  after(() => rm(folder, { recursive: true }));

  /** The output with an audio file in place and without it. */
  const withAndWithout = async (document: string): Promise<[Sound, Sound]> => {
    await writeFile(sound, silence());
    const there = await sayLocally(voice, document, { ssml: true });
    await rm(sound);
    return [there, await sayLocally(voice, document, { ssml: true })];
  };

  it("opens a file that raw SSML names, which is why SSML is validated", async () => {
    const [there, gone] = await withAndWithout(`<speak>one <audio src="${sound}"/> two</speak>`);
    expect(seconds(there) - seconds(gone)).to.be.above(1);
  });

  for (const disguise of [
    (src: string) => `<speak>one &lt;audio src="${src}"/&gt; two</speak>`,
    (src: string) => `<speak>one <![CDATA[<audio src="${src}"/>]]> two</speak>`,
    (src: string) => `<speak>one &amp;lt;audio src="${src}"/&amp;gt; two</speak>`,
    (src: string) => `<speak>one <sub alias="&lt;audio src='${src}'/&gt;">a</sub> two</speak>`,
    (src: string) =>
      `<speak>one <phoneme alphabet="ipa" ph="&quot;&gt;&lt;audio src='${src}'/&gt;">a</phoneme> two</speak>`,
  ]) {
    it(`never opens a file named in plain text: ${disguise("…")}`, async () => {
      const [there, gone] = await withAndWithout(parseSsml(disguise(sound)));
      expect(there.samples.length).to.be.above(0);
      expect(there).to.deep.equal(gone);
    });
  }
});

/** Three seconds of canonical WAV, 22,050 Hz, 16 bits, mono, as espeak-ng writes it. */
const silence = (): Buffer => {
  const data = Buffer.alloc(3 * 2 * 22_050, 1);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + data.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(22_050, 24);
  header.writeUInt32LE(44_100, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
};
