import { createSecretKey } from "node:crypto";
import { expect } from "chai";
import type { CatalogOf } from "../../../src/application/catalog/website-catalog.ts";
import { createWebsiteLexicons } from "../../../src/application/lexicons/website-lexicons.ts";
import { documentFor } from "../../../src/application/synthesis/document-voices.ts";
import { createPlanner } from "../../../src/application/synthesis/planner.ts";
import { indexCatalog } from "../../../src/domain/catalog/catalog-index.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { voicesNamed } from "../../../src/domain/catalog/voice-resolution.ts";
import { Invalid } from "../../../src/domain/errors.ts";
import {
  type EngineCode,
  normalProsody,
  type SystemVoice,
  type Voice,
} from "../../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../../src/engines/engine.ts";

const { voices, systemVoices } = releaseSeed();
const paid: readonly (readonly [id: number, service: EngineCode, name: string])[] = [
  [900_001, "msv", "en-US-JennyNeural"],
  [900_002, "msv", "en-US-GuyNeural"],
  [900_003, "gwn", "en-US-Neural2-C"],
];
const catalog = indexCatalog({
  voices: [
    ...voices,
    ...paid.map(
      ([id, , name]): Voice => ({
        name,
        flag: "us",
        gender: "f",
        lang: "en-US",
        voiceIDs: [id],
        isByok: true,
      }),
    ),
  ],
  systemVoices: [
    ...systemVoices,
    ...paid.map(
      ([id, service, name]): SystemVoice => ({
        id,
        name,
        service,
        voiceName: name,
        lang: "en-US",
        gender: "f",
      }),
    ),
  ],
});

const engineOf = (code: EngineCode): Engine => ({
  code,
  version: () => "1",
  prosody: () => [],
  takesSsml: () => true,
  takesMstts: () => code === "msv",
  synthesize: () => Promise.reject(new Error("not asked")),
});

const spoken = (voice: string, content: string) => {
  const [candidate] = voicesNamed(catalog, voice, "en-US");
  if (!candidate) throw new Error(`There is no voice ${voice}.`);
  const engine = engineOf(candidate.engine);
  return documentFor(`<speak>${content}</speak>`, { ...candidate, engine }, catalog);
};
const refusalOf = (voice: string, content: string): Invalid => {
  try {
    spoken(voice, content);
  } catch (error) {
    if (error instanceof Invalid) return error;
  }
  throw new Error("It was not refused.");
};

describe("The voices of a document", () => {
  it("have the engine's own names", () => {
    for (const name of ["UK English Male", "g1-en-GB-male", "uk english male"]) {
      expect(spoken("US English Female", `a <voice name="${name}">b</voice>`)).to.deep.include({
        document: '<speak>a <voice name="espeak:gmw/en" xml:lang="en-GB">b</voice></speak>',
        voices: ["espeak:gmw/en"],
      });
    }
  });

  it("do not include the voice of the request, by any of its names", () => {
    for (const name of ["US English Female", "g1-en-US-female", "flite:slt"]) {
      expect(spoken("US English Female", `<voice name="${name}">b</voice>`)).to.deep.include({
        document: "<speak>b</speak>",
        voices: [],
      });
    }
  });

  it("return to that of the request within another one", () => {
    const content = '<voice name="UK English Male">a <voice name="US English Female">b</voice></voice>';
    expect(spoken("US English Female", content).document).to.contain(
      '<voice name="flite:slt" xml:lang="en-US">b</voice>',
    );
  });

  it("are those of the same provider", () => {
    expect(spoken("en-US-JennyNeural", 'a <voice name="en-US-GuyNeural">b</voice>')).to.deep.include({
      document: '<speak>a <voice name="en-US-GuyNeural">b</voice></speak>',
      voices: ["en-US-GuyNeural"],
    });
  });

  for (const [rule, voice, name] of [
    ["which the website's catalog does not have", "US English Female", "nobody"],
    ["which is a file", "US English Female", "../gmw/de"],
    ["which is espeak-ng's own and not in the catalog", "US English Female", "gmw/de"],
    ["of a provider in a text of a local voice", "US English Female", "en-US-JennyNeural"],
    ["of another provider", "en-US-JennyNeural", "en-US-Neural2-C"],
    ["of a local engine in a text of a provider's voice", "en-US-JennyNeural", "UK English Male"],
  ] as const) {
    it(`are refused with their name: one ${rule}`, () => {
      const { problems } = refusalOf(voice, `a <voice name="${name}">b</voice>`);
      expect(problems[0]?.path).to.deep.equal(["text"]);
      expect(problems[0]?.message).to.contain(JSON.stringify(name));
    });
  }

  it("without a name are ignored", () => {
    expect(spoken("US English Female", '<voice gender="female">b</voice>').document).to.equal(
      "<speak>b</speak>",
    );
  });

  it("get Azure's elements only if they are Azure's", () => {
    const content =
      '<mstts:express-as style="sad" styledegree="2">a<mstts:silence type="Comma-exact" value="50ms"/></mstts:express-as>';
    expect(spoken("en-US-JennyNeural", content).document).to.equal(
      '<speak><mstts:express-as style="sad" styledegree="2">a<mstts:silence type="Comma-exact" value="50ms"/></mstts:express-as></speak>',
    );
    for (const voice of ["en-US-Neural2-C", "US English Female"])
      expect(spoken(voice, content).document).to.equal("<speak>a</speak>");
  });

  it("make the audio not reproducible if that of one of them is not", () => {
    const engine: Engine = {
      ...engineOf("g1"),
      isExact: (voice) => voice !== "espeak:gmw/en",
      otherVoices: ({ text }) => (text.includes("other") ? ["espeak:gmw/en"] : []),
    };
    const planner = createPlanner({
      findEngine: () => engine,
      encoderVersion: () => "2",
      namingKey: createSecretKey(Buffer.alloc(32, 1)),
      sharesAudio: true,
      catalogOf: () => ({ index: catalog, revision: "1" }) as ReturnType<CatalogOf>,
      lexicons: createWebsiteLexicons(new Map()),
    });
    const encodingOf = (text: string): string | undefined =>
      planner.plan({ text, voice: "US English Female", prosody: normalProsody }, "web").renditions[0].recipe
        .encoding;
    expect([encodingOf("own"), encodingOf("other")]).to.deep.equal(["2", undefined]);
  });
});
