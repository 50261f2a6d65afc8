import { expect } from "chai";
import type { NativeVoice } from "../../../src/client/dom.ts";
import { matchingVoice } from "../../../src/client/playback/native-speech-backend.ts";
import { isSameVoice } from "../../../src/domain/catalog/native-voice.ts";
import { nativeVoices } from "../../../src/domain/catalog/seed/native-voices.ts";

const browserVoice = (name: string, lang: string): NativeVoice => ({
  ...{ name, lang },
  ...{ voiceURI: name, localService: true, default: false },
});

/** The voice that a browser with these voices has for a friendly voice with this native voice behind it. */
const chosen = (native: { name: string; lang?: string }, ...voices: NativeVoice[]) =>
  matchingVoice(
    voices,
    { voice: "Friendly", lang: undefined },
    {
      voices: [{ name: "Friendly", lang: "en-US", voiceIDs: [1] } as never],
      systemVoices: [{ id: 1, ...native }],
    },
  );

describe("the client library's choice of a native voice", () => {
  it("agrees with the service about every seeded voice, whatever a browser adds to its name", () => {
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

  it("finds voices under localised names and names with Desktop", () => {
    const zira = { name: "Microsoft Zira - English (United States)", lang: "en-US" };
    for (const name of ["Microsoft Zira Desktop - Englisch (USA)", "Microsoft Zira - anglais (États-Unis)"]) {
      expect(chosen(zira, browserVoice(name, "en-US"))?.name).to.equal(name);
    }
  });

  it("compares languages, in Android's notation too", () => {
    const laura = { name: "Laura", lang: "sk-SK" };
    const spanish = browserVoice("Laura", "es-ES");
    const slovak = browserVoice("Laura", "sk_SK");
    expect(chosen(laura, spanish)).to.equal(undefined);
    expect(chosen(laura, spanish, slovak)).to.equal(slovak);
    const hebrew = browserVoice("Carmit", "iw_IL");
    expect(chosen({ name: "Carmit", lang: "he-IL" }, hebrew)).to.equal(hebrew);
    expect(chosen({ name: "Carmit", lang: "he-IL" }, browserVoice("Carmit", ""))).to.equal(undefined);
  });

  it("prefers the catalog's meaning of a name to a browser's voice of that name", () => {
    const alice = browserVoice("Friendly", "it-IT");
    expect(chosen({ name: "Kate", lang: "en-GB" }, alice)).to.equal(undefined);
  });

  it("takes the voice in the language asked for, of several that share their name", () => {
    const eddys = [browserVoice("Eddy", "de-DE"), browserVoice("Eddy", "en-GB")];
    const nothing = { voices: [], systemVoices: [] };
    expect(matchingVoice(eddys, { voice: "Eddy", lang: "en-GB" }, nothing)).to.equal(eddys[1]);
    expect(matchingVoice(eddys, { voice: "Eddy", lang: undefined }, nothing)).to.equal(eddys[0]);
  });
});
