import { expect } from "chai";
import { type CatalogIndex, indexCatalog } from "../../../src/domain/catalog/catalog-index.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import {
  type Candidate,
  resolveVoices,
  type VoiceRequest,
} from "../../../src/domain/catalog/voice-resolution.ts";
import { Invalid, NotFound } from "../../../src/domain/errors.ts";
import type { SystemVoice, Voice } from "../../../src/domain/synthesis/speech.ts";

const release = releaseSeed();
const catalog = indexCatalog(release);
const takesAll = () => true;

const resolve = (request: Omit<VoiceRequest, "ssml">, from: CatalogIndex = catalog): readonly Candidate[] =>
  resolveVoices(from, { ...request, ssml: false }, takesAll);
const names = (candidates: readonly Candidate[]): string[] =>
  candidates.map(({ systemVoice }) => systemVoice.name);
const refusalPath = (resolving: () => unknown) => {
  try {
    resolving();
  } catch (error) {
    if (error instanceof Invalid) return error.problems.map(({ path }) => path);
    throw error;
  }
  throw new Error("expected a refusal");
};

/** The release's catalog with additional voices. */
const withMore = (systemVoices: readonly SystemVoice[], voices: readonly Voice[] = []): CatalogIndex =>
  indexCatalog({
    voices: [...release.voices, ...voices],
    systemVoices: [...release.systemVoices, ...systemVoices],
  });

const jenny: SystemVoice = {
  id: 200_000,
  name: "en-US-JennyNeural",
  lang: "en-US",
  service: "msv",
  voiceName: "en-US-JennyNeural",
  gender: "f",
};
const alloy: SystemVoice = { id: 200_001, name: "alloy", service: "oai", voiceName: "alloy", gender: "f" };

describe("a requested voice", () => {
  it("resolves to its system voices in their order", () => {
    expect(names(resolve({ voice: "US English Male" }))).to.deep.equal([
      "g1-en-US-male",
      "g2-en-US-male",
      "g3-en-US-male",
    ]);
  });

  it("takes precedence over all other parameters", () => {
    const request = {
      voice: "UK English Female",
      lang: "fr-FR",
      engine: "g3",
      name: "g1-de-DE-male",
    } as const;
    const candidates = resolve({ ...request, gender: "male" });
    expect(names(candidates)).to.deep.equal(["g1-en-GB-female", "g2-en-GB-female"]);
    expect(candidates.map(({ lang }) => lang)).to.deep.equal(["en-GB", "en-GB"]);
  });

  it("is recorded with its friendly name", () => {
    expect(resolve({ voice: "German Female" }).map(({ label }) => label)).to.deep.equal([
      "German Female",
      "German Female",
    ]);
  });

  it("is found only by its exact name", () => {
    expect(() => resolve({ voice: "uk english female" })).to.throw(NotFound, "uk english female");
  });

  it("is still spoken when it is deprecated", () => {
    const voice: Voice = {
      name: "Old",
      flag: "de",
      gender: "f",
      lang: "de-DE",
      voiceIDs: [300],
      deprecated: true,
    };
    expect(names(resolve({ voice: "Old" }, withMore([], [voice])))).to.deep.equal(["g1-de-DE-female"]);
  });

  it("that only browsers have is not found", () => {
    const native: SystemVoice = { id: 200_002, name: "Alex", lang: "en-US" };
    const voice: Voice = { name: "Alex", flag: "us", gender: "m", lang: "en-US", voiceIDs: [native.id] };
    expect(() => resolve({ voice: "Alex" }, withMore([native], [voice]))).to.throw(NotFound, "Alex");
  });

  it("that speaks every language uses the requested one, or its own by default", () => {
    const voice: Voice = { name: "alloy", flag: "us", gender: "f", lang: "en-US", voiceIDs: [alloy.id] };
    const own = withMore([alloy], [voice]);
    expect(resolve({ voice: "alloy", lang: "de-DE" }, own)[0]?.lang).to.equal("de-DE");
    expect(resolve({ voice: "alloy" }, own)[0]?.lang).to.equal("en-US");
  });
});

describe("a request with only a language", () => {
  it("resolves to the chain of free engines", () => {
    expect(resolve({ lang: "fr-FR" }).map(({ engine }) => engine)).to.deep.equal(["g1", "g2", "g3"]);
  });

  for (const lang of ["hy", "hyw", "eo", "mk", "cy"]) {
    it(`resolves to g5, in ogg, for ${lang}`, () => {
      expect(resolve({ lang }).map(({ engine, format }) => [engine, format])).to.deep.equal([["g5", "ogg"]]);
    });
  }

  it("never resolves to a paid engine", () => {
    expect(names(resolve({ lang: "en-US" }, withMore([jenny, alloy])))).to.deep.equal(
      names(resolve({ lang: "en-US" })),
    );
  });

  it("is not found if no engine speaks the language", () => {
    expect(() => resolve({ lang: "zu-ZA" })).to.throw(NotFound, "zu-ZA");
    expect(() => resolve({ lang: "not a language" })).to.throw(NotFound);
  });

  it("is refused if it has neither a language nor a voice", () => {
    expect(refusalPath(() => resolve({ engine: "g1" }))).to.deep.equal([["lang"]]);
  });

  it("resolves to a voice of the preferred gender", () => {
    expect(names(resolve({ lang: "fr-FR", gender: "male" }))).to.deep.equal([
      "g1-fr-FR-male",
      "g2-fr-FR-male",
      "g3-fr-FR-male",
    ]);
    expect(names(resolve({ lang: "fr-FR", gender: "female" }))).to.deep.equal([
      "g1-fr-FR-female",
      "g2-fr-FR-female",
    ]);
  });

  it("resolves to the other gender if the language has only that", () => {
    expect(names(resolve({ lang: "fr-FR", engine: "g3", gender: "female" }))).to.deep.equal([
      "g3-fr-FR-male",
    ]);
  });

  it("resolves to a deprecated voice only if the language has no other", () => {
    const deprecate = (ids: readonly number[]) =>
      indexCatalog({
        voices: [],
        systemVoices: release.systemVoices.map((one) =>
          ids.includes(one.id) ? { ...one, deprecated: true } : one,
        ),
      });
    expect(names(resolve({ lang: "fr-FR" }, deprecate([390])))).to.deep.equal([
      "g1-fr-FR-male",
      "g2-fr-FR-female",
      "g3-fr-FR-male",
    ]);
    expect(names(resolve({ lang: "fr-FR", engine: "g3" }, deprecate([394])))).to.deep.equal([
      "g3-fr-FR-male",
    ]);
  });

  it("is recorded with the system voice's name", () => {
    expect(resolve({ lang: "eo" })[0]?.label).to.equal("g5-eo-female");
  });
});

describe("the requested language", () => {
  for (const [requested, spoken] of [
    ["en-GB", "en-GB"],
    ["EN-gb", "en-GB"],
    ["en", "en-US"],
    ["en-AU", "en-GB"],
    ["en-JM", "en-029"],
    ["en-CA", "en-US"],
    ["en-UK", "en-GB"],
    ["en-GB-oxendict", "en-GB"],
    ["de", "de-DE"],
    ["de-AT", "de-DE"],
    ["de-Latn-CH", "de-DE"],
    ["es-MX", "es-419"],
    ["es", "es-ES"],
    ["fr-CA", "fr-FR"],
    ["fr-BE", "fr-BE"],
    ["no", "nb-NO"],
    ["no-NO", "nb-NO"],
    ["nb", "nb-NO"],
    ["pt", "pt-BR"],
    ["pt-AO", "pt-PT"],
    ["zh", "zh-CN"],
    ["zh-TW", "zh-CN"],
    ["zh-Hans-CN", "zh-CN"],
    ["zh-Hant-HK", "zh-HK"],
    ["cmn-CN", "zh-CN"],
    ["zh-cmn", "zh-CN"],
    ["yue", "zh-HK"],
    ["yue-Hant-HK", "zh-HK"],
    ["zh-yue", "zh-HK"],
    ["iw", "he-IL"],
    ["in", "id-ID"],
    ["ar", "ar-SA"],
    ["ar-EG", "ar-SA"],
    ["sr-Latn-RS", "sr-RS"],
    ["vi-VN-x-north", "vi-VN"],
    ["vi-VN-x-south", "vi-VN-x-south"],
    ["eo-001", "eo"],
    ["fil", "id-ID"],
    ["tl-PH", "id-ID"],
    ["sh", "sr-RS"],
    ["nn", "nb-NO"],
    ["zh-yue-HK", "zh-HK"],
    ["hyw-AM", "hyw"],
    ["hy-AM", "hy-AM"],
  ] as const) {
    it(`${requested} is spoken as ${spoken}`, () =>
      expect(resolve({ lang: requested })[0]?.lang).to.equal(spoken));
  }
});

describe("a language of a provider's own codes", () => {
  const wavenet = (id: number, lang: string): SystemVoice => ({
    id,
    name: `${lang}-Wavenet-A`,
    lang,
    service: "gwn",
    voiceName: `${lang}-Wavenet-A`,
    gender: "f",
  });
  const google = withMore([
    wavenet(200_010, "cmn-CN"),
    wavenet(200_011, "cmn-TW"),
    wavenet(200_012, "yue-HK"),
  ]);

  for (const [lang, found] of [
    ["zh", "cmn-CN"],
    ["zh-CN", "cmn-CN"],
    ["cmn-Hans-CN", "cmn-CN"],
    ["zh-TW", "cmn-TW"],
    ["zh-HK", "yue-HK"],
  ] as const) {
    it(`is found for ${lang}`, () => {
      expect(names(resolve({ lang, engine: "gwn" }, google))).to.deep.equal([`${found}-Wavenet-A`]);
    });
  }
});

describe("a requested engine", () => {
  it("is the only one used", () => {
    expect(names(resolve({ lang: "de-DE", engine: "g2" }))).to.deep.equal(["g2-de-DE-female"]);
  });

  it("is not found if it does not speak the language", () => {
    expect(() => resolve({ lang: "cy-GB", engine: "g1" })).to.throw(NotFound, /g1.*cy-GB/);
    expect(() => resolve({ lang: "de-DE", engine: "g5" })).to.throw(NotFound, /g5.*de-DE/);
  });

  for (const engine of ["gwn", "msv", "oai"] as const) {
    it(`is not found without credentials: ${engine}`, () => {
      expect(() => resolve({ lang: "en-US", engine })).to.throw(
        NotFound,
        new RegExp(`${engine}.*credentials`),
      );
    });
  }

  it("uses the website's own voices", () => {
    expect(names(resolve({ lang: "en", engine: "msv" }, withMore([jenny])))).to.deep.equal([jenny.name]);
    expect(resolve({ lang: "de-DE", engine: "oai" }, withMore([alloy]))[0]?.lang).to.equal("de-DE");
  });
});

describe("the name parameter", () => {
  const bella: SystemVoice = {
    ...{ id: 200_002, name: "af_bella", lang: "en-US", service: "g1", gender: "f" },
    voiceName: "openai:af_bella",
  };
  const voiceOf = (name: string, members: Partial<Voice> = {}): Voice => ({
    ...{ name, flag: "de", gender: "f", lang: "de-DE", voiceIDs: [300] },
    ...members,
  });

  it("finds a system voice by its name, for any preferred gender", () => {
    const candidates = resolve({ lang: "de-DE", engine: "g3", name: "g3-de-DE-male", gender: "female" });
    expect(names(candidates)).to.deep.equal(["g3-de-DE-male"]);
  });

  it("finds a system voice by the engine's own name for it", () => {
    const request = { lang: "en-GB", engine: "g1", name: "espeak:gmw/en+f3", gender: "female" } as const;
    expect(names(resolve(request))).to.deep.equal(["g1-en-GB-female"]);
    expect(resolve(request)[0]?.label).to.equal("g1-en-GB-female");
    expect(names(resolve({ lang: "en-US", name: "flite:slt" }))).to.deep.equal(["g1-en-US-female"]);
  });

  it("finds a friendly voice and its system voices in their order", () => {
    const candidates = resolve({ lang: "de-DE", name: "German Male" });
    expect(names(candidates)).to.deep.equal(["g1-de-DE-male", "g2-de-DE-male", "g3-de-DE-male"]);
    expect(candidates[0]?.label).to.equal("German Male");
  });

  it("ignores case", () => {
    expect(names(resolve({ lang: "de", name: "G1-DE-de-MALE" }))).to.deep.equal(["g1-de-DE-male"]);
    expect(names(resolve({ lang: "en", name: "FLITE:SLT" }))).to.deep.equal(["g1-en-US-female"]);
    expect(names(resolve({ lang: "de", name: "german female" }))[0]).to.equal("g1-de-DE-female");
  });

  it("finds a friendly voice in any Unicode case and normalization form", () => {
    for (const [name, requested] of [
      ["Große Straße", "GROSSE STRASSE"],
      ["İnci", "i̇nci"],
      ["ΟΔΥΣΣΕΥΣ", "οδυσσευσ"],
      ["Amélie", "AME\u0301LIE"],
      ["Ame\u0301lie", "Amélie"],
    ] as const) {
      const found = resolve({ lang: "de-DE", name: requested }, withMore([], [voiceOf(name)]));
      expect(found[0]?.label, requested).to.equal(name);
    }
  });

  it("finds nothing by the names of Object.prototype's members", () => {
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect(() => resolve({ lang: "de-DE", name }), name).to.throw(NotFound);
    }
  });

  it("prefers a system voice's name to an engine's own name, and that to a friendly name", () => {
    const own = { ...jenny, id: 200_003, name: "own", voiceName: "g1-de-DE-male", service: "g2" } as const;
    const friendly = [voiceOf("flite:slt"), voiceOf("g1-de-DE-male")];
    const more = withMore([own], friendly);
    expect(names(resolve({ lang: "de-DE", name: "g1-de-DE-male" }, more))).to.deep.equal(["g1-de-DE-male"]);
    expect(names(resolve({ lang: "de-DE", name: "flite:slt" }, more))).to.deep.equal(["g1-en-US-female"]);
    expect(names(resolve({ lang: "de-DE", engine: "g2", name: "g1-de-DE-male" }, more))).to.deep.equal([
      "own",
    ]);
  });

  it("prefers an exact match of any kind to one that differs in case", () => {
    const exact = voiceOf("AF_Bella");
    expect(names(resolve({ lang: "de-DE", name: "AF_Bella" }, withMore([bella], [exact])))).to.deep.equal([
      "g1-de-DE-female",
    ]);
    expect(names(resolve({ lang: "de-DE", name: "AF_BELLA" }, withMore([bella], [exact])))).to.deep.equal([
      "af_bella",
    ]);
  });

  it("selects among the engine's voices if an engine is requested", () => {
    expect(names(resolve({ lang: "de-DE", engine: "g2", name: "German Male" }))).to.deep.equal([
      "g2-de-DE-male",
    ]);
    expect(() => resolve({ lang: "de-DE", engine: "g2", name: "g1-de-DE-male" })).to.throw(
      NotFound,
      /g2.*g1-de-DE-male/,
    );
    expect(() => resolve({ lang: "de-DE", engine: "g5", name: "German Male" })).to.throw(NotFound);
    const twins = withMore([], [voiceOf("Twin"), voiceOf("TWIN", { voiceIDs: [302] })]);
    expect(names(resolve({ lang: "de-DE", engine: "g2", name: "twin" }, twins))).to.deep.equal([
      "g2-de-DE-female",
    ]);
  });

  it("selects the first in the engines' order, paid engines last, if no engine is requested", () => {
    const paid = { ...alloy, id: 200_004 };
    const free = { ...alloy, id: 200_005, service: "g2", voiceName: "openai:alloy" } as const;
    const more = withMore([paid, free]);
    expect(resolve({ lang: "en-US", name: "alloy" }, more).map(({ engine }) => engine)).to.deep.equal(["g2"]);
    expect(resolve({ lang: "en-US", name: "alloy", format: "wav" }, more)[0]?.engine).to.equal("oai");
    expect(names(resolve({ lang: "en-US", name: jenny.name }, withMore([jenny])))).to.deep.equal([
      jenny.name,
    ]);
  });

  it("selects by language, gender and deprecation among voices that share it", () => {
    const same = (id: number, members: Partial<SystemVoice>): SystemVoice => ({
      ...{ ...jenny, id, name: `one of them ${id}`, service: "g1", voiceName: "shared" },
      ...members,
    });
    const more = withMore([
      same(1_001, { lang: "fr-FR" }),
      same(1_002, { deprecated: true }),
      same(1_003, { gender: "m" }),
      same(1_004, {}),
    ]);
    const chosen = (lang: string, gender?: "male") =>
      resolve({ lang, gender, name: "shared" }, more).map(({ systemVoice }) => systemVoice.id);
    expect(chosen("fr-CA")).to.deep.equal([1_001]);
    expect(chosen("en-US", "male")).to.deep.equal([1_003]);
    expect(resolve({ lang: "en", gender: "female", name: "shared" }, more)[0]?.systemVoice.id).to.equal(
      1_004,
    );
    expect(chosen("ja-JP")).to.have.length(1);
    const twins = withMore([], [voiceOf("Twin"), voiceOf("TWIN", { lang: "fr-FR", voiceIDs: [390] })]);
    expect(names(resolve({ lang: "fr", name: "twin" }, twins))).to.deep.equal(["g1-fr-FR-female"]);
  });

  it("uses the found voice's language instead of the requested one", () => {
    expect(resolve({ lang: "fr-FR", name: "g1-de-DE-male" })[0]?.lang).to.equal("de-DE");
    expect(resolve({ lang: "fr-FR", name: "German Male" })[0]?.lang).to.equal("de-DE");
  });

  it("finds no native voice", () => {
    for (const name of ["Samantha", "Google UK English Female", "Microsoft Zira - English (United States)"]) {
      expect(() => resolve({ lang: "en-US", name }), name).to.throw(NotFound, name);
    }
  });
});

describe("the requested format", () => {
  it("excludes engines that do not support it", () => {
    const voice: Voice = { name: "Both", flag: "us", gender: "f", lang: "en-US", voiceIDs: [20, jenny.id] };
    const own = withMore([jenny], [voice]);
    expect(names(resolve({ voice: "Both" }, own))).to.have.length(2);
    expect(
      resolve({ voice: "Both", format: "wav" }, own).map(({ engine, format }) => [engine, format]),
    ).to.deep.equal([["msv", "wav"]]);
  });

  it("is refused if no engine supports it", () => {
    expect(refusalPath(() => resolve({ lang: "en-US", format: "ogg" }))).to.deep.equal([["format"]]);
    expect(refusalPath(() => resolve({ voice: "Welsh Male", format: "mp3" }))).to.deep.equal([["format"]]);
  });

  it("defaults to the engine's own format", () => {
    expect(resolve({ voice: "US English Female" })[0]?.format).to.equal("mp3");
    expect(resolve({ voice: "Welsh Male" })[0]?.format).to.equal("ogg");
  });
});

describe("SSML", () => {
  const espeakAlone = ({ voiceName }: Candidate) => voiceName.startsWith("espeak:");

  it("excludes voices that do not support it", () => {
    const candidates = resolveVoices(catalog, { voice: "US English Female", ssml: true }, espeakAlone);
    expect(names(candidates)).to.deep.equal(["g2-en-US-female"]);
  });

  it("is refused if no voice supports it", () => {
    const request = { lang: "en-US", engine: "g1", ssml: true } as const;
    expect(refusalPath(() => resolveVoices(catalog, request, espeakAlone))).to.deep.equal([["text"]]);
  });
});

describe("a refused request", () => {
  it("repeats at most a name's length of the input in its error", () => {
    expect(() => resolve({ voice: "x".repeat(5000) }))
      .to.throw(NotFound)
      .with.property("message")
      .with.length.below(200);
  });
});
