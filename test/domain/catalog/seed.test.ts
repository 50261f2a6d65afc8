import { expect } from "chai";
import {
  addVoice,
  catalogDecider,
  firstOperatorId,
  initialCatalog,
  seedCatalog,
} from "../../../src/domain/catalog/catalog.ts";
import { isNative } from "../../../src/domain/catalog/native-voice.ts";
import { accents, otherNames } from "../../../src/domain/catalog/seed/further-voices.ts";
import { languages } from "../../../src/domain/catalog/seed/languages.ts";
import { nativeVoices } from "../../../src/domain/catalog/seed/native-voices.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { systemVoice as systemVoiceSchema } from "../../../src/domain/catalog/voice-schema.ts";

const at = "2026-01-01T00:00:00.000Z";
const { voices, systemVoices } = releaseSeed();
const byId = new Map(systemVoices.map((one) => [one.id, one]));
const spoken = systemVoices.filter((one) => !isNative(one));
const voice = (name: string) => voices.find((one) => one.name === name);
const systemVoicesOf = (name: string) => voice(name)?.voiceIDs.flatMap((id) => byId.get(id) ?? []) ?? [];
const spokenBehind = (name: string) => systemVoicesOf(name).filter((one) => !isNative(one));
const namesBehind = (name: string) => spokenBehind(name).map(({ voiceName }) => voiceName);
const servicesOf = (name: string) => spokenBehind(name).map(({ service }) => service);

const isUnique = (all: readonly unknown[]): boolean => new Set(all).size === all.length;

describe("the seed's voices", () => {
  it("number at least fifty, in at least forty languages", () => {
    expect(voices.length).to.be.at.least(50);
    expect(new Set(voices.map(({ lang }) => lang)).size).to.be.at.least(40);
  });

  it("include a woman and a man for every language", () => {
    for (const [lang] of Map.groupBy(voices, ({ lang }) => lang)) {
      const genders = new Set(voices.filter((one) => one.lang === lang).map(({ gender }) => gender));
      expect([...genders], lang).to.have.members(["f", "m"]);
    }
  });

  it("have unique names and ids, and each line number is used once", () => {
    expect(isUnique(voices.map(({ name }) => name))).to.equal(true);
    expect(isUnique(voices.map(({ name }) => name.toLowerCase()))).to.equal(true);
    expect(isUnique(systemVoices.map(({ id }) => id))).to.equal(true);
    expect(isUnique(systemVoices.map(({ name }) => name))).to.equal(true);
    expect(isUnique([...languages, ...accents].map(([number]) => number))).to.equal(true);
    expect(isUnique([...languages, ...accents].map(([, lang]) => lang))).to.equal(true);
  });

  it("satisfy the rules for an operator's voices and have ids that operators cannot use", () => {
    const seeded = seedCatalog(initialCatalog(), { voices: [], systemVoices }, at).reduce(
      catalogDecider.evolve,
      initialCatalog(),
    );
    for (const one of voices) expect(addVoice(seeded, { voice: one, at })).to.have.length(1);
    for (const one of systemVoices) {
      expect(systemVoiceSchema.parse(one)).to.deep.equal(one);
      expect(one.id).to.be.below(firstOperatorId);
    }
  });

  it("have canonical language codes", () => {
    const codes = [...voices, ...systemVoices].flatMap(({ lang }) => lang ?? []);
    expect(codes.filter((code) => Intl.getCanonicalLocales(code)[0] !== code)).to.deep.equal([]);
  });

  it("have the flag of a country or xx", () => {
    const regions = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
    const strange = voices.filter(({ flag }) => flag !== "xx" && !regions.of(flag.toUpperCase()));
    expect(strange.map(({ flag }) => flag)).to.deep.equal([]);
    expect(regions.of("XX")).to.equal(undefined);
  });

  it("have the flag of the language's region if it is a country", () => {
    for (const { lang, flag } of voices) {
      const { region } = new Intl.Locale(lang);
      if (region && /^[A-Z]{2}$/.test(region)) expect(flag, lang).to.equal(region.toLowerCase());
    }
  });

  it("include a website's default voice", () => {
    expect(voice("UK English Female")).to.deep.include({ flag: "gb", gender: "f", lang: "en-GB" });
    expect(spokenBehind("UK English Female").map(({ id }) => id)).to.deep.equal([10, 12]);
  });

  it("never change the ids of the service's voices, which stored events contain", () => {
    const ids = (name: string) => spokenBehind(name).map(({ id }) => id);
    expect(ids("US English Male")).to.deep.equal([21, 23, 24]);
    expect(ids("Southern Vietnamese Male")).to.deep.equal([1281, 1283, 1284]);
    expect(ids("Welsh Female")).to.deep.equal([285]);
  });

  it("fall back from g1 to g2, and male voices further to g3", () => {
    expect(servicesOf("German Female")).to.deep.equal(["g1", "g2"]);
    expect(servicesOf("German Male")).to.deep.equal(["g1", "g2", "g3"]);
    expect(systemVoices.filter((one) => one.service === "g3" && one.gender !== "m")).to.deep.equal([]);
  });

  it("use flite where it has a voice and fall back to espeak-ng's best", () => {
    expect(namesBehind("US English Female")).to.deep.equal(["flite:slt", "espeak:gmw/en-US+f3"]);
    expect(namesBehind("US English Male")?.slice(0, 2)).to.deep.equal(["flite:rms", "espeak:gmw/en-US"]);
    expect(namesBehind("Scottish English Male")?.[0]).to.equal("flite:awb");
    expect(namesBehind("Scottish English Female")?.[0]).to.equal("espeak:gmw/en-GB-scotland+f3");
  });

  it("use g5 for Armenian, Esperanto, Macedonian and Welsh only, and no other engine for these", () => {
    const specialty = spoken.filter(({ service }) => service === "g5").map(({ lang }) => lang);
    expect([...new Set(specialty)]).to.have.members(["hy-AM", "hyw", "eo", "mk-MK", "cy-GB"]);
    const others = spoken.filter(({ service }) => service !== "g5").map(({ lang }) => lang);
    expect(others.filter((lang) => specialty.includes(lang))).to.deep.equal([]);
  });

  it("mark exactly the system voices that the service speaks as fallback voices", () => {
    for (const one of systemVoices)
      expect(one.fallbackVoice, one.name).to.equal(isNative(one) ? undefined : true);
  });
});

describe("the seed's native voices", () => {
  it("precede the service's voices in every voice, and no voice has only native ones", () => {
    for (const { name, voiceIDs } of voices) {
      const order = voiceIDs.map((id) => (id < 10_000 ? "service" : "native"));
      expect([...order].sort(), name).to.deep.equal(order);
      expect(order.at(-1), name).to.equal("service");
    }
  });

  it("belong each to a voice of their language and gender", () => {
    for (const { id, speaks, gender, name } of nativeVoices) {
      const behind = voices.filter(({ voiceIDs }) => voiceIDs.includes(id));
      expect(
        behind.some((one) => one.lang === speaks && one.gender === gender),
        name,
      ).to.equal(true);
      expect(
        behind.filter((one) => one.gender !== gender),
        name,
      ).to.deep.equal([]);
    }
  });

  it("are ordered by platform, the most natural first", () => {
    expect(systemVoicesOf("US English Female").map(({ name }) => name)).to.deep.equal([
      "Microsoft AvaMultilingual Online (Natural) - English (United States)",
      "Microsoft Jenny Online (Natural) - English (United States)",
      "Microsoft Aria Online (Natural) - English (United States)",
      "Samantha",
      "Ava",
      "Allison",
      "Susan",
      "Google US English 5 (Natural)",
      "Google US English 1 (Natural)",
      "Chrome OS US English 5",
      "Google US English",
      "Microsoft Zira - English (United States)",
      "English United States",
      "g1-en-US-female",
      "g2-en-US-female",
    ]);
  });

  it("never change their ids", () => {
    const idOf = (name: string) => systemVoices.find((one) => one.name === name)?.id;
    expect(idOf("Microsoft Sonia Online (Natural) - English (United Kingdom)")).to.equal(10_020);
    expect(idOf("Daniel")).to.equal(20_022);
    expect(idOf("Google français 4 (Natural)")).to.equal(30_780);
    expect(idOf("Chrome OS Deutsch 3")).to.equal(40_601);
    expect(idOf("Google UK English Male")).to.equal(50_021);
    expect(idOf("Microsoft Catherine - English (Australia)")).to.equal(62_580);
    expect(idOf("français Canada")).to.equal(72_601);
  });
});

describe("the seed's alternative voice names", () => {
  it("have the same system voices as the voices that they rename", () => {
    for (const [name, of] of otherNames) expect(voice(name)).to.deep.equal({ ...voice(of), name });
  });

  it("of accents have their own native voices and are spoken in the nearest language", () => {
    for (const [, lang, spokenAs, name] of accents) {
      for (const gender of ["Female", "Male"]) {
        const langs = new Set(spokenBehind(`${name} ${gender}`).map((one) => one.lang));
        expect([...langs], name).to.deep.equal([spokenAs]);
        expect(voice(`${name} ${gender}`)?.lang).to.equal(lang);
      }
    }
    expect(systemVoicesOf("Australian Female")[0]?.lang).to.equal("en-AU");
  });

  for (const [lang, names] of [
    ["af-ZA", "Afrikaans Male"],
    ["ar-SA", "Arabic Female, Arabic Male"],
    ["bn-BD", "Bangla Bangladesh Female, Bangla Bangladesh Male"],
    ["bn-IN", "Bangla India Female, Bangla India Male"],
    ["bs-BA", "Bosnian Male"],
    ["ca-ES", "Catalan Male"],
    ["cs-CZ", "Czech Female, Czech Male"],
    ["cy-GB", "Welsh Male"],
    ["da-DK", "Danish Female, Danish Male"],
    ["de-DE", "Deutsch Female, Deutsch Male"],
    ["el-GR", "Greek Female, Greek Male"],
    ["en-AU", "Australian Female, Australian Male"],
    ["en-GB", "UK English Female, UK English Male"],
    ["en-US", "US English Female, US English Male"],
    ["eo", "Esperanto Male"],
    ["es-419", "Spanish Latin American Female, Spanish Latin American Male"],
    ["es-ES", "Spanish Female, Spanish Male"],
    ["et-EE", "Estonian Male"],
    ["fi-FI", "Finnish Female, Finnish Male"],
    ["fil-PH", "Filipino Female, Filipino Male"],
    ["fr-CA", "French Canadian Female, French Canadian Male"],
    ["fr-FR", "French Female, French Male"],
    ["hi-IN", "Hindi Female, Hindi Male"],
    ["hr-HR", "Croatian Male"],
    ["hu-HU", "Hungarian Female, Hungarian Male"],
    ["hy-AM", "Armenian Male"],
    ["id-ID", "Indonesian Female, Indonesian Male"],
    ["is-IS", "Icelandic Male"],
    ["it-IT", "Italian Female, Italian Male"],
    ["ja-JP", "Japanese Female, Japanese Male"],
    ["ko-KR", "Korean Female, Korean Male"],
    ["la", "Latin Female, Latin Male"],
    ["lv-LV", "Latvian Male"],
    ["mk-MK", "Macedonian Male"],
    ["nb-NO", "Norwegian Female, Norwegian Male"],
    ["ne-NP", "Nepali, Nepali Female, Nepali Male"],
    ["nl-NL", "Dutch Female, Dutch Male"],
    ["pl-PL", "Polish Female, Polish Male"],
    ["pt-BR", "Brazilian Portuguese Female, Brazilian Portuguese Male"],
    ["pt-PT", "Portuguese Female, Portuguese Male"],
    ["ro-MD", "Moldavian Female, Moldavian Male"],
    ["ro-RO", "Romanian Female, Romanian Male"],
    ["ru-RU", "Russian Female, Russian Male"],
    ["si-LK", "Sinhala, Sinhala Female, Sinhala Male"],
    ["sk-SK", "Slovak Female, Slovak Male"],
    ["sq-AL", "Albanian Male"],
    ["sr-Latn", "Serbo-Croatian Male"],
    ["sr-ME", "Montenegrin Male"],
    ["sr-RS", "Serbian Male"],
    ["sv-SE", "Swedish Female, Swedish Male"],
    ["sw-TZ", "Swahili Male"],
    ["ta-IN", "Tamil Female, Tamil Male"],
    ["th-TH", "Thai Female, Thai Male"],
    ["tr-TR", "Turkish Female, Turkish Male"],
    ["uk-UA", "Ukrainian Female"],
    ["vi-VN", "Vietnamese Female, Vietnamese Male"],
    ["zh-CN", "Chinese Female, Chinese Male"],
    ["zh-HK", "Chinese (Hong Kong) Female, Chinese (Hong Kong) Male"],
    ["zh-TW", "Chinese Taiwan Female, Chinese Taiwan Male"],
  ] as const) {
    it(`include ${names} in ${lang}, spoken by the service in the named gender`, () => {
      for (const name of names.split(", ")) {
        const gender = name.endsWith(" Male") ? "m" : "f";
        expect(voice(name), name).to.deep.include({ lang, gender });
        expect(
          spokenBehind(name).map((one) => one.gender),
          name,
        ).to.include(gender);
      }
    });
  }
});
