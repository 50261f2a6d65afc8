import { expect } from "chai";
import { languages } from "../../src/catalog-seed/languages.ts";
import { releaseSeed } from "../../src/catalog-seed/seed.ts";
import {
  addVoice,
  catalogDecider,
  firstOperatorId,
  initialCatalog,
  seedCatalog,
} from "../../src/domain/catalog.ts";
import { systemVoice as systemVoiceSchema } from "../../src/domain/voice-schema.ts";

const at = "2026-01-01T00:00:00.000Z";
const { voices, systemVoices } = releaseSeed();
const voice = (name: string) => voices.find((one) => one.name === name);
const behind = (name: string) =>
  voice(name)?.voiceIDs.map((id) => systemVoices.find((one) => one.id === id)?.voiceName);
const servicesOf = (name: string) =>
  voice(name)?.voiceIDs.map((id) => systemVoices.find((one) => one.id === id)?.service);

const isUnique = (all: readonly unknown[]): boolean => new Set(all).size === all.length;

describe("The voices of a release", () => {
  it("are at least fifty, in at least forty languages", () => {
    expect(voices.length).to.be.at.least(50);
    expect(new Set(voices.map(({ lang }) => lang)).size).to.be.at.least(40);
  });

  it("have a woman and a man for every language", () => {
    for (const [lang] of Map.groupBy(voices, ({ lang }) => lang)) {
      const genders = voices.filter((one) => one.lang === lang).map(({ gender }) => gender);
      expect(genders, lang).to.have.members(["f", "m"]);
    }
  });

  it("have names and ids of their own, and numbers that are used once", () => {
    expect(isUnique(voices.map(({ name }) => name))).to.equal(true);
    expect(isUnique(systemVoices.map(({ id }) => id))).to.equal(true);
    expect(isUnique(systemVoices.map(({ name }) => name))).to.equal(true);
    expect(isUnique(languages.map(([number]) => number))).to.equal(true);
  });

  it("are such as an operator may add, on ids that no operator may take", () => {
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
    const codes = languages.map(([, lang]) => lang);
    expect(codes.filter((code) => Intl.getCanonicalLocales(code)[0] !== code)).to.deep.equal([]);
  });

  it("have the flag of a country, or none that any country has", () => {
    const regions = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
    const strange = voices.filter(({ flag }) => flag !== "xx" && !regions.of(flag.toUpperCase()));
    expect(strange.map(({ flag }) => flag)).to.deep.equal([]);
    expect(regions.of("XX")).to.equal(undefined);
  });

  it("have the flag of the language's region where it is a country", () => {
    for (const [, lang, , , flag] of languages) {
      const { region } = new Intl.Locale(lang);
      if (region && /^[A-Z]{2}$/.test(region)) expect(flag, lang).to.equal(region.toLowerCase());
    }
  });

  it("have the one that a website speaks with by default", () => {
    expect(voice("UK English Female")).to.deep.equal({
      name: "UK English Female",
      flag: "gb",
      gender: "f",
      lang: "en-GB",
      voiceIDs: [10, 12],
    });
  });

  it("keep their ids for ever: events and websites hold them", () => {
    expect(voice("US English Male")?.voiceIDs).to.deep.equal([21, 23, 24]);
    expect(voice("Southern Vietnamese Male")?.voiceIDs).to.deep.equal([1281, 1283, 1284]);
    expect(voice("Welsh Female")?.voiceIDs).to.deep.equal([285]);
  });

  it("fall back from g1 to g2, and men further to g3", () => {
    expect(servicesOf("German Female")).to.deep.equal(["g1", "g2"]);
    expect(servicesOf("German Male")).to.deep.equal(["g1", "g2", "g3"]);
    expect(systemVoices.filter((one) => one.service === "g3" && one.gender !== "m")).to.deep.equal([]);
  });

  it("are flite's where it has them, with espeak-ng's best behind", () => {
    expect(behind("US English Female")).to.deep.equal(["flite:slt", "espeak:gmw/en-US+f3"]);
    expect(behind("US English Male")?.slice(0, 2)).to.deep.equal(["flite:rms", "espeak:gmw/en-US"]);
    expect(behind("Scottish English Male")?.[0]).to.equal("flite:awb");
    expect(behind("Scottish English Female")?.[0]).to.equal("espeak:gmw/en-GB-scotland+f3");
  });

  it("leave Armenian, Esperanto, Macedonian and Welsh to g5, and g5 to them", () => {
    const specialty = systemVoices.filter(({ service }) => service === "g5").map(({ lang }) => lang);
    expect([...new Set(specialty)]).to.have.members(["hy-AM", "hyw", "eo", "mk-MK", "cy-GB"]);
    const others = systemVoices.filter(({ service }) => service !== "g5").map(({ lang }) => lang);
    expect(others.filter((lang) => specialty.includes(lang))).to.deep.equal([]);
  });
});
