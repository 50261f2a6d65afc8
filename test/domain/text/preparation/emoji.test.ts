import { expect } from "chai";
import { prepare } from "../../../../src/domain/text/preparation/prepare.ts";
import type { Reader } from "../../../../src/domain/text/preparation/reader.ts";

const written = (text: string, lang: string, tool: Reader["tool"]): string =>
  prepare({ text, ssml: false }, () => ({ lang, tool }))
    .runs.map((run) => run.text)
    .join("");

describe("Emoji", () => {
  for (const [tool, lang, text, words] of [
    ["hibari", "en-US", "Well done 👍!", "Well done thumbs up!"],
    ["hibari", "en-GB", "ok😀🎉", "ok grinning face party popper"],
    ["kokoro", "en-GB", "Well done 👍!", "Well done thumbs up!"],
    ["pico", "en-GB", "👍🏽, ❤️", "thumbs up medium skin tone, red heart"],
    ["pico", "de-DE", "Gut 😀.", "Gut grinsendes Gesicht."],
    ["pico", "fr-FR", "🇩🇪 et 👨‍👩‍👧", "drapeau Allemagne et famille homme femme et fille"],
    ["pico", "es-ES", "Hola ☀️", "Hola sol"],
    ["pico", "it-IT", "🏃🏽‍♂️ (🏴󠁧󠁢󠁥󠁮󠁧󠁿)", "uomo che corre carnagione olivastra (bandiera Inghilterra)"],
  ] as const)
    it(`are named in the voice's language for ${tool} in ${lang}: ${text}`, () => {
      expect(written(text, lang, tool)).to.equal(words);
    });

  it("are left to tools that name them themselves, or refuse them", () => {
    for (const tool of ["espeak", "flite", "sherpa"] as const)
      expect(written("Ok 😀.", "en-US", tool)).to.equal("Ok 😀.");
    expect(written("Oi 😀.", "pt-BR", "kokoro")).to.equal("Oi 😀.");
  });
});
