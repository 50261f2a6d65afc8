import { expect } from "chai";
import { parseMarks } from "../../../src/client/playback/boundaries.ts";
import { sentText } from "../../../src/client/transport/markup.ts";

describe("a text with words in other languages", () => {
  const text = "A & B: 🙂 bonjour <là>!";
  const spans = [{ charIndex: text.indexOf("bonjour"), charLength: "bonjour <là>".length, lang: "fr" }];

  it("is sent as it is without such words", () => {
    expect(sentText({ text }).text).to.equal(text);
  });

  it("is sent as SSML that contains nothing else of it", () => {
    expect(sentText({ text, spans }).text).to.equal(
      '<speak>A &amp; B: 🙂 <lang xml:lang="fr">bonjour &lt;là&gt;</lang>!</speak>',
    );
  });

  it("keeps the offsets of its words, which the service counts in the markup", () => {
    const sent = [...sentText({ text, spans }).text];
    for (const word of ["B", "bonjour", "là"]) {
      const start = sent.findIndex((_, at) => sent.slice(at).join("").startsWith(word));
      const mark = JSON.stringify({ time: 0, type: "word", start, end: start + word.length });
      const [boundary] = parseMarks(mark, { text, spans });
      expect(text.slice(boundary?.charIndex).startsWith(word), word).to.equal(true);
      expect(boundary?.charLength).to.equal(word.length);
    }
  });
});
