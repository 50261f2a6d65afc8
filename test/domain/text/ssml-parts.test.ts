import { expect } from "chai";
import { parseSsml } from "../../../src/domain/text/ssml.ts";
import { ssmlParts } from "../../../src/domain/text/ssml-parts.ts";

const partsOf = (document: string) => ssmlParts(parseSsml(document));

describe("The parts of an SSML document for a voice that takes plain texts", () => {
  it("are its texts, divided at breaks, which are silences", () => {
    const document = '<speak>One &amp; two<break time="250ms"/> three<break strength="none"/>.</speak>';
    expect(partsOf(document).map(({ text, pauseMs }) => [text, pauseMs])).to.deep.equal([
      ["One & two", 250],
      ["three", 0],
      [".", 0],
    ]);
  });

  it("are divided at paragraphs and sentences", () => {
    const parts = partsOf("<speak><p><s>One.</s><s>Two.</s></p><p>Three.</p>Four.</speak>");
    expect(parts.map(({ text }) => text).filter(Boolean)).to.deep.equal(["One.", "Two.", "Three.", "Four."]);
    expect(parts.reduce((sum, { pauseMs }) => sum + pauseMs, 0)).to.equal(400);
  });

  it("have a pause only after paragraphs with text", () => {
    const parts = partsOf(`<speak><p>One.</p>${"<p> </p>".repeat(100)}<p><s>Two.</s></p></speak>`);
    expect(parts.reduce((sum, { pauseMs }) => sum + pauseMs, 0)).to.equal(400);
  });

  it("contain aliases instead of what they replace, and the text of other elements", () => {
    const document =
      '<speak>the <sub alias="World Wide Web">WWW</sub> <prosody rate="slow">of <emphasis>old</emphasis></prosody></speak>';
    expect(partsOf(document).map(({ text }) => text)).to.deep.equal(["the World Wide Web of old"]);
  });

  it("have places in the document, in code points", () => {
    const document = parseSsml('<speak>😀 &lt;b&gt;<break time="1s"/>  next <sub alias="x">y</sub></speak>');
    const characters = Array.from(document);
    for (const { text, position } of ssmlParts(document)) {
      expect(
        characters
          .slice(position)
          .join("")
          .startsWith(text.charAt(0) === "n" ? "next" : "😀"),
      ).to.equal(true);
    }
  });
});
