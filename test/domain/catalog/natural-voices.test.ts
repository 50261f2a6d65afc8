import { expect } from "chai";
import {
  beginWith,
  type CatalogEvent,
  catalogDecider,
  changeVoice,
  chooseVoices,
  initialCatalog,
  seedCatalog,
} from "../../../src/domain/catalog/catalog.ts";
import { type CatalogIndex, indexCatalog } from "../../../src/domain/catalog/catalog-index.ts";
import {
  defaultNaturalVoices,
  naturalVoices,
  voicesToChoose,
  withNaturalVoices,
} from "../../../src/domain/catalog/natural-voices.ts";
import { releaseSeed } from "../../../src/domain/catalog/seed/seed.ts";
import { resolveVoices, type VoiceRequest } from "../../../src/domain/catalog/voice-resolution.ts";
import { Invalid } from "../../../src/domain/errors.ts";
import type { Voice } from "../../../src/domain/synthesis/speech.ts";
import { firstVoiceIds } from "../../../src/domain/synthesis/voice-ids.ts";

const at = "2026-11-27T00:00:00.000Z";
const release = releaseSeed();
const optional = ["emma", "fable", "fenrir", "kore"].map((name) => `hibari:${name}`);
const kokoro = naturalVoices.map(({ voiceName }) => voiceName).filter((name) => name.startsWith("kokoro:"));

const catalogWith = (chosen: readonly string[], voices: readonly Voice[] = release.voices): CatalogIndex => {
  const mixed = withNaturalVoices({ ...release, voices }, chosen);
  return indexCatalog(mixed, mixed.preferred);
};
const resolved = (catalog: CatalogIndex, request: Omit<VoiceRequest, "ssml">): string[] =>
  resolveVoices(catalog, { ...request, ssml: false }, () => true).map(({ voiceName }) => voiceName);

describe("the table of natural voices", () => {
  it("has unique ids in a range of its own, and unique names", () => {
    const ids = naturalVoices.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const id of ids) expect(id).to.be.within(firstVoiceIds.natural, firstVoiceIds.natural + 999_999);
    const names = [...naturalVoices, ...release.systemVoices].map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });

  it("keeps the ids that installations have", () => {
    const ids = Object.fromEntries(
      naturalVoices.map(({ voiceName, id }) => [voiceName, id - firstVoiceIds.natural]),
    );
    expect(ids).to.include({ "hibari:heart": 0, "hibari:kore": 4, "pico:en-GB": 100, "pico:it-IT": 105 });
    expect(ids).to.include({ "kokoro:af_heart": 200, "kokoro:zm_yunyang": 253 });
  });
});

describe("natural voices", () => {
  const natural = catalogWith(defaultNaturalVoices);

  it("speak the friendly voices of their language and gender, before the engines' own", () => {
    expect(resolved(natural, { voice: "US English Female" })).to.deep.equal([
      "hibari:heart",
      "flite:slt",
      "espeak:gmw/en-US+f3",
    ]);
    expect(resolved(natural, { voice: "UK English Female" })[0]).to.equal("pico:en-GB");
    for (const name of ["US English Male", "UK English Male", "German Male", "Dutch Female"])
      expect(resolved(natural, { voice: name })).to.deep.equal(resolved(catalogWith([]), { voice: name }));
  });

  it("speak voices under other names, and accents that have no voice of their own", () => {
    expect(resolved(natural, { voice: "Deutsch Female" })[0]).to.equal("pico:de-DE");
    expect(resolved(natural, { voice: "Australian Female" })[0]).to.equal("pico:en-GB");
    expect(resolved(natural, { voice: "Latin American Spanish Female" })[0]).to.match(/^espeak:/);
  });

  it("come after browsers' voices", () => {
    const { voiceIDs = [] } = natural.voice("US English Female") ?? {};
    const heart = voiceIDs.indexOf(firstVoiceIds.natural);
    expect(voiceIDs.slice(0, heart).every((id) => id >= firstVoiceIds.native)).to.equal(true);
    expect(voiceIDs.slice(heart + 1)).to.deep.equal([20, 22]);
    expect(voiceIDs.length).to.be.at.most(20);
  });

  it("speak their language, with their gender's natural voices and one of the engine as fallbacks", () => {
    const all = catalogWith([...defaultNaturalVoices, ...optional]);
    expect(resolved(all, { lang: "en-GB" })).to.deep.equal([
      ...["hibari:emma", "pico:en-GB", "espeak:gmw/en+f3"],
      ...["espeak:gmw/en+f2", "espeak:gmw/en+m3"],
    ]);
    expect(resolved(all, { lang: "en-GB", gender: "male" }).slice(0, 2)).to.deep.equal([
      "hibari:fable",
      "espeak:gmw/en",
    ]);
    expect(resolved(natural, { lang: "fr" }).slice(0, 2)).to.deep.equal(["pico:fr-FR", "espeak:roa/fr+f3"]);
    expect(resolved(natural, { lang: "nl-NL" })).to.deep.equal(resolved(catalogWith([]), { lang: "nl-NL" }));
  });

  it("are found by name, with the engine's code of before", () => {
    expect(resolved(natural, { name: "hibari:heart", lang: "en-US", engine: "g1" })).to.deep.equal([
      "hibari:heart",
    ]);
    expect(resolved(natural, { name: "g1-en-US-female", lang: "en-US" })).to.deep.equal(["flite:slt"]);
  });

  it("rank emma before Pico and heart before kore, whatever the order of the choice", () => {
    const all = catalogWith([...optional, ...defaultNaturalVoices].reverse());
    expect(resolved(all, { voice: "UK English Female" }).slice(0, 3)).to.deep.equal([
      ...["hibari:emma", "pico:en-GB", "espeak:gmw/en+f3"],
    ]);
    expect(resolved(all, { voice: "US English Female" }).slice(0, 2)).to.deep.equal([
      "hibari:heart",
      "hibari:kore",
    ]);
  });

  it("of Kokoro speak only languages that no faster one speaks; all of them are found by name", () => {
    const all = catalogWith([...defaultNaturalVoices, ...kokoro]);
    expect(resolved(all, { voice: "Hindi Male" })[0]).to.equal("kokoro:hm_omega");
    expect(
      resolved(all, { voice: "Japanese Female" }).filter((name) => name.startsWith("kokoro:")),
    ).to.have.length(1);
    expect(resolved(all, { voice: "US English Male" })[0]).to.equal("flite:rms");
    expect(resolved(all, { lang: "es-ES", gender: "male" })[0]).to.match(/^espeak:/);
    expect(resolved(all, { name: "kokoro:am_puck", lang: "en-US" })).to.deep.equal(["kokoro:am_puck"]);
  });

  it("do not change voices of operators, or voices whose engines an operator has chosen", () => {
    const own: Voice = { name: "Narrator", flag: "us", gender: "f", lang: "en-US", voiceIDs: [20] };
    const changed: Voice = { ...own, name: "US English Female", voiceIDs: [22, 20] };
    const catalog = catalogWith(defaultNaturalVoices, [own, changed]);
    expect(catalog.voices).to.deep.equal([own, changed]);
  });

  it("change nothing where none is chosen", () => {
    expect(catalogWith([]).voices).to.deep.equal(indexCatalog(release).voices);
    expect(catalogWith([]).systemVoices).to.deep.equal(indexCatalog(release).systemVoices);
  });
});

describe("the choice of voices", () => {
  const fold = (events: readonly CatalogEvent[], from = initialCatalog()) =>
    events.reduce(catalogDecider.evolve, from);
  const natural = { choice: "natural", voices: defaultNaturalVoices, at } as const;
  const seeded = fold(seedCatalog(initialCatalog(), release, at));

  it("is the beginning of a new installation, and of no other", () => {
    expect(beginWith(initialCatalog(), natural)).to.deep.equal([
      { type: "VoicesChosen", data: { choice: "natural", voices: defaultNaturalVoices, at } },
    ]);
    expect(beginWith(seeded, natural)).to.deep.equal([]);
    expect(beginWith(fold(beginWith(initialCatalog(), natural)), natural)).to.deep.equal([]);
  });

  it("is recorded once", () => {
    const events = chooseVoices(seeded, natural);
    expect(events).to.have.length(1);
    expect(chooseVoices(fold(events, seeded), natural)).to.deep.equal([]);
    const classic = { choice: "classic", voices: [], at } as const;
    expect(chooseVoices(fold(events, seeded), classic)).to.have.length(1);
  });

  it("includes what is installed, and the default voices anyway", () => {
    expect(voicesToChoose(() => false)).to.deep.equal(defaultNaturalVoices);
    expect(voicesToChoose((name) => name === "hibari:emma")).to.deep.equal([
      "hibari:heart",
      "hibari:emma",
      ...defaultNaturalVoices.slice(1),
    ]);
  });

  it("lets an operator's voice name the natural voices that are chosen, and no others", () => {
    const change = { voiceIDs: [firstVoiceIds.natural, 20] };
    const request = { name: "US English Male", change, at };
    expect(() => changeVoice(seeded, request)).to.throw(Invalid);
    const [event] = changeVoice(fold(chooseVoices(seeded, natural), seeded), request);
    expect(event?.type).to.equal("VoiceChanged");
  });
});
