import { expect } from "chai";
import type { PronouncedWords } from "../../../../src/domain/text/pronounced-text.ts";
import { openEspeakLibrary } from "../../../../src/subprocess/host/espeak/library.ts";
import { espeakFrontEnd } from "../../../../src/subprocess/host/models/kokoro/espeak-front-end.ts";

const vocabulary = { ˈ: 1, a: 2, k: 3, s: 4, o: 5, n: 6 };

/** Reads each word as itself, and a number as two words. */
const library = { phonemes: (_: string, text: string) => text.replace(/\d+/g, "two words") };

/**
 * Of misaki 0.9.4, with the library of espeak-ng 1.51 and of 1.52. A danda is a full stop here, and
 * nothing there.
 */
const published: readonly (readonly [voice: string, text: string, symbols: string])[] = [
  ["roa/es", "¿Qué hora es en Madrid?", "kˈe ˈoɾa ˈes en maðɾˈid?"],
  ["roa/es", "Hoy hace mucho calor, pero mañana lloverá.", "ˈoɪ ˈaθe mˈuʧo kalˈoɾ, pˌeɾo maɲˈana ʎˌoβeɾˈa."],
  ["roa/fr", "Quelle heure est-il à Paris ?", "kɛl ˈœʁ ɛtil a paʁˈi ?"],
  ["roa/fr", "Un bon vin blanc accompagne le poisson.", "œ̃ bˈɔ̃ vˈɛ̃ blˈɑ̃ akɔ̃pˈaɲ lə pwasˈɔ̃."],
  ["roa/it", "Il treno parte alle nove.", "il trˈɛno pˈarte ˌalle nˈɔve."],
  ["inc/hi", "दिल्ली में कितने बजे हैं?", "dˈɪlli mẽː kˈɪtnˌeː bˈʌɟeː hɛ̃?"],
  ["roa/pt-BR", "Que surpresa ver você aqui!", "ky sˌuɾəprˈezæ vˈer vosˌe akˈi!"],
];

describe("The front end of Kokoro for languages that espeak-ng reads", () => {
  const read = async (text: string, pronounced?: readonly PronouncedWords[]) =>
    (await espeakFrontEnd(library, "roa/es", vocabulary).read(text, pronounced))
      .flat()
      .map(({ phonemes, position, length }) => [phonemes, position, length]);

  it("gives each word its place in the text, with the punctuation that the model knows", async () => {
    expect(await read("¿Qué \u{1F642} hora, sí?")).to.deep.equal([
      ["", 0, 0],
      ["Qué ", 1, 3],
      ["\u{1F642} ", 5, 1],
      ["hora", 7, 4],
      [",", 11, 0],
      [" ", 12, 0],
      ["sí", 13, 2],
      ["?", 15, 0],
    ]);
  });

  it("gives all words between two signs the place of the first, if other words are read than are written", async () => {
    expect(await read("Son 21 días.")).to.deep.equal([
      ["Son ", 0, 3],
      ["two ", 0, 0],
      ["words ", 0, 0],
      ["días", 0, 0],
      [".", 11, 0],
    ]);
  });

  it("does not take the signs of numbers and abbreviations for pauses", async () => {
    expect((await read("a 3.5, v.g. b")).map(([phonemes]) => phonemes).join("")).to.equal(
      "a two words.two words, v.g. b",
    );
  });

  it("speaks words with the pronunciation that is given, at their places", async () => {
    const text = "Don \u{1F642} casa, no.";
    const start = text.indexOf("casa");
    expect(await read(text, [{ start, end: start + 4, ipa: "ˈkaso" }])).to.deep.equal([
      ["Don ", 0, 3],
      ["\u{1F642}", 4, 1],
      [" ", 0, 0],
      ["kˈaso", 6, 4],
      [",", 10, 0],
      [" ", 11, 0],
      ["no", 12, 2],
      [".", 14, 0],
    ]);
  });

  it("reads words as they are written if their pronunciation has a sound that the model does not have", async () => {
    expect(await read("casa", [{ start: 0, end: 4, ipa: "θaza" }])).to.deep.equal([["casa", 0, 4]]);
  });

  it("has nothing to say for signs", async () => {
    expect(await read("…!")).to.deep.equal([]);
  });

  it("gives the symbols that the voices were trained with", async () => {
    const native = openEspeakLibrary();
    try {
      for (const [voice, text, symbols] of published) {
        const sentences = await espeakFrontEnd(native, voice, vocabulary).read(text);
        expect(
          sentences
            .flat()
            .map(({ phonemes }) => phonemes)
            .join(""),
          text,
        ).to.equal(symbols);
      }
    } finally {
      native.close();
    }
  });
});
