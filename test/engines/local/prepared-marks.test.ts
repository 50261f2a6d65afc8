import { expect } from "chai";
import { normalProsody } from "../../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../../src/engines/engine.ts";
import { localEngines } from "../../../src/engines/local/engine.ts";
import { collect } from "../../support/collect.ts";
import { duringSuite } from "../../support/during.ts";
import { openToolHost } from "../../support/tool-host.ts";

describe("Marks of a text with signs", () => {
  const host = duringSuite(openToolHost);
  let engine: Engine;
  before(async () => {
    const [first] = await localEngines({ host });
    if (!first) throw new Error("espeak-ng is not installed");
    engine = first;
  });

  /** What of the text each mark of a word stands for. */
  const markedIn = async (text: string, lang: string, voice: string): Promise<string[]> => {
    const request = { text, ssml: false, voice, lang, prosody: normalProsody, format: "wav" } as const;
    const { audio, marks } = await engine.synthesize(request, new AbortController().signal);
    await collect(audio);
    const characters = Array.from(text);
    const words = (marks?.() ?? []).filter(({ type }) => type === "word");
    return words.map(({ start, end }) => characters.slice(start, end).join(""));
  };

  it("are those of the words as sent, around a sign that is written in words", async () => {
    const cases = [
      ["de-DE", "espeak:gmw/de", "Es kostet £5 heute", ["Es", "kostet", "heute"]],
      ["fr-FR", "espeak:roa/fr", "Il fait −5 °C ici", ["Il", "fait", "ici"]],
      ["es-ES", "espeak:roa/es", "Hay 10\u202f000 personas 😀 y 20 m² más", ["Hay", "personas", "y", "más"]],
      ["ru-RU", "espeak:zle/ru", "Цена 2 $ сего\u00adдня тут", ["Цена", "сего\u00adдня", "тут"]],
      ["en-GB", "espeak:gmw/en", "The ﬁnal oﬀer is x² here", ["The", "ﬁnal", "oﬀer", "is", "here"]],
    ] as const;
    for (const [lang, voice, text, words] of cases) {
      const marked = await markedIn(text, lang, voice);
      expect(marked, text).to.include.members([...words]);
      expect(marked.join("").length, text).to.be.at.most(text.length + 12);
    }
  });

  it("are those of phrases with kanji", async () => {
    const marked = await markedIn("今日は、東京で本を読みました。", "ja-JP", "espeak:jpx/ja");
    expect(marked.join("|")).to.equal("今日は|東京で|本を|読みました");
    const mixed = await markedIn("Say 東京です now", "en-US", "espeak:gmw/en-US");
    expect(mixed).to.deep.equal(["Say", "東京です", "now"]);
  });
});
