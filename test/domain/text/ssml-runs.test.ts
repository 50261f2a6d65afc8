import { expect } from "chai";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import { spokenText } from "../../../src/domain/text/spoken-text.ts";
import { anyDialect, parseSsml } from "../../../src/domain/text/ssml.ts";
import { type Run, runsOf } from "../../../src/domain/text/ssml-runs.ts";

const canonical = (document: string): string => parseSsml(document, undefined, anyDialect);
const runs = (document: string, readsMarkup = true): Run[] =>
  runsOf(canonical(document), () => (readsMarkup ? "all" : "none"));
const said = (all: readonly Run[]) =>
  all.map(({ text, speaker }) => [speaker.lang ?? speaker.voice?.name ?? "", text]);

describe("The runs of a document", () => {
  it("are divided where its language changes", () => {
    expect(said(runs('<speak>He said <lang xml:lang="fr">bonjour</lang> twice.</speak>'))).to.deep.equal([
      ["", "He said "],
      ["fr", "bonjour"],
      ["", " twice."],
    ]);
  });

  it("are divided where its voice changes, which ends the outer language", () => {
    const document =
      '<speak><lang xml:lang="fr">a<voice name="x">b<lang xml:lang="de">c</lang></voice></lang></speak>';
    expect(runs(document).map(({ speaker }) => speaker)).to.deep.equal([
      { lang: "fr" },
      { voice: { name: "x", lang: undefined } },
      { voice: { name: "x", lang: undefined }, lang: "de" },
    ]);
  });

  it("keep the elements around their words", () => {
    const document =
      '<speak><p><prosody rate="slow">a <lang xml:lang="fr">b</lang> c</prosody> d</p></speak>';
    expect(said(runs(document))).to.deep.equal([
      ["", '<speak><p><prosody rate="slow">a </prosody></p></speak>'],
      ["fr", '<speak><p><prosody rate="slow">b</prosody></p></speak>'],
      ["", '<speak><p><prosody rate="slow"> c</prosody> d</p></speak>'],
    ]);
  });

  it("contain punctuation with the words before it", () => {
    expect(said(runs('<speak>“<lang xml:lang="fr">Oui</lang>”, he said.</speak>'))).to.deep.equal([
      ["fr", "“Oui”, "],
      ["", "he said."],
    ]);
  });

  it("are plain text where nothing is marked up", () => {
    expect(runs("<speak>a &amp; b</speak>").map(({ text, ssml }) => [text, ssml])).to.deep.equal([
      ["a & b", false],
    ]);
  });

  it("continue a sentence unless a paragraph, a sentence or a break begins with them", () => {
    const begun = (document: string) => runs(document).map(({ continues }) => continues);
    expect(begun('<speak><s>a <lang xml:lang="fr">b</lang></s></speak>')).to.deep.equal([false, true]);
    expect(begun('<speak><s>a</s><lang xml:lang="fr">b</lang></speak>')).to.deep.equal([false, false]);
    expect(begun('<speak>a<break/><lang xml:lang="fr">b</lang></speak>')).to.deep.equal([false, false]);
    expect(begun('<speak>a<break strength="none"/><lang xml:lang="fr">b</lang></speak>')).to.deep.equal([
      false,
      true,
    ]);
  });

  it("have all spoken characters of the document", () => {
    for (const document of [
      '<speak> a <lang xml:lang="fr"> b</lang>. <p>c<break/> </p> <voice name="x">,d</voice>  </speak>',
      '<speak> <break/>. <lang xml:lang="fr"> </lang></speak>',
      '<speak> <p> </p><p>a &lt;</p> <prosody rate="slow">b</prosody>\n<p>c</p> </speak>',
    ]) {
      const text = document.includes("b") ? document : document.replace("</speak>", "x</speak>");
      for (const readsMarkup of [true, false]) {
        const spoken = runs(text, readsMarkup).flatMap((run) => spokenText(run.text, run.ssml).characters);
        expect(spoken.join("")).to.equal(spokenText(canonical(text), true).characters.join(""));
      }
    }
  });
});

describe("The runs of a document for a voice that takes plain texts", () => {
  const plain = (document: string) => runs(document, false);

  it("are divided at breaks, which are silences", () => {
    const document = '<speak>One &amp; two<break time="250ms"/> three<break strength="none"/>.</speak>';
    expect(plain(document).map(({ text, pauseMs }) => [text, pauseMs.after])).to.deep.equal([
      ["One & two", 250],
      [" three.", 0],
    ]);
  });

  it("begin with the silence of a first break", () => {
    const [run] = plain('<speak><break time="250ms"/>One</speak>');
    expect([run?.text, run?.pauseMs]).to.deep.equal(["One", { before: 250, after: 0 }]);
  });

  it("are divided at paragraphs and sentences", () => {
    const parts = plain("<speak><p><s>One.</s><s>Two.</s></p><p>Three.</p>Four.</speak>");
    expect(parts.map(({ text }) => text)).to.deep.equal(["One.", "Two.", "Three.", "Four."]);
    expect(parts.map(({ pauseMs }) => pauseMs.after)).to.deep.equal([0, 200, 200, 0]);
  });

  it("have a pause only after paragraphs with text", () => {
    const parts = plain(`<speak><p>One.</p>${"<p> </p>".repeat(100)}<p><s>Two.</s></p></speak>`);
    expect(parts.reduce((sum, { pauseMs }) => sum + pauseMs.after, 0)).to.equal(400);
  });

  it("contain aliases instead of what they replace, and the text of other elements", () => {
    const document = '<speak>the <sub alias="World Wide Web">WWW</sub> of <emphasis>old</emphasis></speak>';
    expect(plain(document).map(({ text }) => text)).to.deep.equal(["the World Wide Web of old"]);
  });

  it("are divided where the prosody changes, which is a factor", () => {
    const document =
      '<speak>a <prosody rate="slow" volume="-6dB">b <prosody rate="150%" pitch="+12st">c</prosody></prosody></speak>';
    expect(
      plain(document).map(({ text, prosody, continues }) => ({ text, continues, ...rounded(prosody) })),
    ).to.deep.equal([
      { text: "a ", continues: false, ...normalProsody },
      { text: "b ", continues: true, pitch: 1, rate: 0.8, volume: 0.5 },
      { text: "c", continues: true, pitch: 2, rate: 1.2, volume: 0.5 },
    ]);
  });

  it("keep phonemes, and no other element, for a voice that reads only these", () => {
    const document =
      '<speak><p>Say <emphasis>R&amp;D</emphasis>, <phoneme alphabet="ipa" ph="təˈmɑːtəʊ">tomato</phoneme> &lt;now&gt;.</p>' +
      "<p>And A&amp;B.</p></speak>";
    const found = runsOf(canonical(document), () => "phonemes");
    expect(found.map(({ text, ssml }) => [text, ssml])).to.deep.equal([
      [
        '<speak>Say R&amp;D, <phoneme alphabet="ipa" ph="təˈmɑːtəʊ">tomato</phoneme> &lt;now&gt;.</speak>',
        true,
      ],
      ["And A&B.", false],
    ]);
    const [run] = found;
    expect(spokenText(run?.text ?? "", true).characters.join("")).to.equal("Say R&D, tomato <now>.");
  });
});

const rounded = (prosody: Run["prosody"]) =>
  Object.fromEntries(
    Object.entries(prosody).map(([parameter, value]) => [parameter, Math.round(value * 100) / 100]),
  );
