import { expect } from "chai";
import type { NativeVoice } from "../../../src/client/dom.ts";
import { matchingVoice } from "../../../src/client/voices/native-voices.ts";
import { isSameVoice } from "../../../src/domain/catalog/native-voice.ts";
import { nativeVoices } from "../../../src/domain/catalog/seed/native-voices.ts";

const browserVoice = (name: string, lang: string): NativeVoice => ({
  ...{ name, lang },
  ...{ voiceURI: name, localService: true, default: false },
});

/** The match among a browser's voices for a voice whose system voice is this native one. */
const chosen = (native: { name: string; lang?: string }, ...voices: NativeVoice[]) =>
  matchingVoice(
    voices,
    { voice: "Friendly", lang: undefined },
    {
      voices: [{ name: "Friendly", lang: "en-US", voiceIDs: [1] } as never],
      systemVoices: [{ id: 1, ...native }],
    },
  );

describe("matching of the browser's voices", () => {
  it("agrees with the service about every seeded voice and its localized names", () => {
    for (const [index, { name, lang }] of nativeVoices.entries()) {
      const bare = name.replace(/ - .*/, "");
      const named = [
        name,
        bare,
        `${bare} - Deutsch`,
        `${bare} Desktop - Deutsch`,
        `${bare} (Deutsch (Welt))`,
      ];
      for (const given of [...named, `${bare}n`, name.normalize("NFD")]) {
        for (const other of [{ name, lang }, nativeVoices[index + 1] ?? nativeVoices[0]]) {
          const voice = { name: given, lang: other?.lang ?? lang };
          const isChosen = chosen({ name, lang }, browserVoice(voice.name, voice.lang)) !== undefined;
          expect(isChosen, `${name} ${lang}: ${given} ${voice.lang}`).to.equal(
            isSameVoice({ name, lang }, voice),
          );
        }
      }
    }
  });

  it("matches localized names and names with Desktop", () => {
    const zira = { name: "Microsoft Zira - English (United States)", lang: "en-US" };
    for (const name of ["Microsoft Zira Desktop - Englisch (USA)", "Microsoft Zira - anglais (États-Unis)"]) {
      expect(chosen(zira, browserVoice(name, "en-US"))?.name).to.equal(name);
    }
  });

  it("compares languages, also in Android's notation", () => {
    const laura = { name: "Laura", lang: "sk-SK" };
    const spanish = browserVoice("Laura", "es-ES");
    const slovak = browserVoice("Laura", "sk_SK");
    expect(chosen(laura, spanish)).to.equal(undefined);
    expect(chosen(laura, spanish, slovak)).to.equal(slovak);
    const hebrew = browserVoice("Carmit", "iw_IL");
    expect(chosen({ name: "Carmit", lang: "he-IL" }, hebrew)).to.equal(hebrew);
    expect(chosen({ name: "Carmit", lang: "he-IL" }, browserVoice("Carmit", ""))).to.equal(undefined);
  });

  it("uses the catalog's voice of a name, not a browser's voice of the same name", () => {
    const alice = browserVoice("Friendly", "it-IT");
    expect(chosen({ name: "Kate", lang: "en-GB" }, alice)).to.equal(undefined);
  });

  it("prefers the requested language among voices of the same name", () => {
    const voices = [browserVoice("Eddy", "de-DE"), browserVoice("Eddy", "en-GB")];
    const emptyCatalog = { voices: [], systemVoices: [] };
    expect(matchingVoice(voices, { voice: "Eddy", lang: "en-GB" }, emptyCatalog)).to.equal(voices[1]);
    expect(matchingVoice(voices, { voice: "Eddy", lang: undefined }, emptyCatalog)).to.equal(voices[0]);
  });
});
