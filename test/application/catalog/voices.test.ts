import { expect } from "chai";
import type { CatalogState } from "../../../projections/catalog.ts";
import type { View } from "../../../projections/runner/view.ts";
import type { VoiceFilter } from "../../../src/application/catalog/filter-voices.ts";
import { createVoices, type Voices } from "../../../src/application/catalog/voices.ts";
import {
  type AddedVoices,
  type CatalogOf,
  createWebsiteCatalogs,
} from "../../../src/application/catalog/website-catalog.ts";
import type { NativeVoice } from "../../../src/domain/catalog/native-voice.ts";
import type { Platform } from "../../../src/domain/catalog/platform.ts";
import { resolveVoices } from "../../../src/domain/catalog/voice-resolution.ts";
import { NotFound } from "../../../src/domain/errors.ts";
import type { EngineCode, SystemVoice, Voice } from "../../../src/domain/synthesis/speech.ts";

const systemVoices: readonly SystemVoice[] = [
  { id: 1, name: "g1-en", lang: "en-US", service: "g1", voiceName: "espeak:gmw/en-US" },
  { id: 2, name: "Samantha", lang: "en-US" },
  { id: 3, name: "Alex", lang: "en-US" },
];
const voice = (name: string, ...voiceIDs: number[]): Voice => ({
  name,
  flag: "us",
  gender: "f",
  lang: "en-US",
  voiceIDs,
});
const everywhere = voice("Spoken here", 1);
const fallingBack = voice("Native first", 2, 1);
const native = voice("Native only", 2, 3);

const nativeVoices: readonly NativeVoice[] = [{ name: "Samantha", lang: "en-US", on: [{ os: "macos" }] }];
const premium: AddedVoices = {
  revision: "1",
  voices: [{ ...voice("en-US-Neural2-C", 900), isByok: true, provider: "google" }],
  systemVoices: [{ id: 900, name: "en-US-Neural2-C", service: "gwn", voiceName: "en-US-Neural2-C" }],
};

describe("a website's voices", () => {
  let state: CatalogState;
  let reports: Map<string, Platform>;
  let own: Map<string, AddedVoices>;
  let catalogOf: CatalogOf;
  let voices: Voices;

  beforeEach(() => {
    state = {
      revision: 6,
      updatedAt: "2026-03-01T12:00:00.000Z",
      voices: [everywhere, fallingBack, native],
      systemVoices: [...systemVoices],
      chosen: null,
    };
    reports = new Map();
    own = new Map();
    catalogOf = createWebsiteCatalogs({
      catalog: { get: () => state } as unknown as View<CatalogState>,
      byokVoices: (websiteId) => own.get(websiteId),
    });
    voices = createVoices({
      catalogOf,
      platforms: reports as unknown as View<Platform>,
      nativeVoices,
    });
  });

  const report = (stream: string, name: string, version = 0): void => {
    const known = { name, lang: "en-US", localService: true, reports: 1 };
    reports.set(stream, {
      voices: { [`en-US ${name}`]: { ...known, browserVersion: version, osVersion: version } },
    });
  };
  const namesFor = (platform?: Parameters<Voices["collection"]>[1]) =>
    voices.collection("web_1", platform).voices.map(({ name }) => name);

  it("are spoken under every name, in any case, but only by engines that have them", () => {
    own.set("web_2", premium);
    const named = (name: string, engine?: EngineCode) => voices.isNamed("web_2", name, engine);
    for (const name of ["Spoken here", "native FIRST", "g1-en", "espeak:gmw/en-US", "en-us-neural2-c"]) {
      expect(named(name), name).to.equal(true);
    }
    for (const name of ["Native only", "Samantha", "Nobody"]) expect(named(name), name).to.equal(false);
    expect([named("g1-en", "g1"), named("g1-en", "g2")]).to.deep.equal([true, false]);
    expect([named("Spoken here", "g1"), named("Spoken here", "gwn")]).to.deep.equal([true, false]);
    expect(voices.isNamed("web_1", "en-US-Neural2-C")).to.equal(false);
  });

  it("name the engines that speak them", () => {
    own.set("web_2", premium);
    expect(voices.engines("web_1")).to.deep.equal(["g1"]);
    expect(voices.engines("web_2")).to.deep.equal(["g1", "gwn"]);
  });

  it("are the catalog's", () => {
    expect(voices.collection("web_1")).to.deep.include({
      voices: [everywhere, fallingBack, native],
      systemVoices,
    });
    expect(voices.named("web_1", "Native first")).to.equal(fallingBack);
    expect(voices.inLanguage("web_1", "en-US")).to.have.length(3);
  });

  it("are empty while the catalog is empty", () => {
    const empty = createVoices({
      catalogOf: createWebsiteCatalogs({
        catalog: { get: () => undefined } as unknown as View<CatalogState>,
        byokVoices: () => undefined,
      }),
      platforms: reports as unknown as View<Platform>,
      nativeVoices,
    });
    expect(empty.collection("web_1").voices).to.deep.equal([]);
    expect(() => empty.named("web_1", "Spoken here")).to.throw(NotFound);
  });

  it("come from the first provider if two list the same name", () => {
    const [voiceOfFirst] = premium.voices;
    const second = { ...voice("en-US-Neural2-C", 901), isByok: true, provider: "openai" };
    own.set("web_1", { ...premium, voices: [...premium.voices, second] });
    expect(voices.named("web_1", "en-US-Neural2-C")).to.equal(voiceOfFirst);
    expect(namesFor().filter((name) => name === "en-US-Neural2-C")).to.have.length(1);
  });

  it("are found by their exact name and exact language", () => {
    for (const name of ["native first", "Native first ", "", "__proto__"]) {
      expect(() => voices.named("web_1", name), name).to.throw(NotFound);
    }
    for (const lang of ["en-us", "en", ""]) {
      expect(voices.inLanguage("web_1", lang), lang).to.deep.equal([]);
    }
  });

  describe("for a platform", () => {
    it("exclude browser-only voices that the platform is not known to have", () => {
      expect(namesFor({ os: "Windows" })).to.deep.equal(["Spoken here", "Native first"]);
      expect(namesFor({ browser: "Netscape" })).to.include("Native only");
      expect(namesFor({ browser: "Netscape", os: "BeOS" })).to.not.include("Native only");
    });

    it("include native voices that the table lists for the platform", () => {
      expect(namesFor({ os: "macOS" })).to.include("Native only");
      expect(namesFor({ browser: "Safari", osVersion: "14", os: "Mac OS X" })).to.include("Native only");
    });

    it("include native voices that were reported from the platform", () => {
      report("platform-chrome-windows", "Alex", 100);
      expect(namesFor({ browser: "Chrome", os: "Windows" })).to.include("Native only");
      expect(namesFor({ browser: "Chrome", browserVersion: "99", os: "Windows" })).to.not.include(
        "Native only",
      );
      expect(namesFor({ browser: "Edge", os: "Windows" })).to.not.include("Native only");
    });

    it("include all voices when neither browser nor system is named", () => {
      expect(namesFor({})).to.include("Native only");
      expect(namesFor({ browserVersion: "1", osVersion: "2" })).to.include("Native only");
    });

    it("include every system voice that they refer to", () => {
      expect(voices.collection("web_1", { os: "Windows" }).systemVoices).to.deep.equal(systemVoices);
    });
  });

  describe("of a language or gender", () => {
    const british: Voice = { ...voice("British", 4), flag: "gb", lang: "en-GB", gender: "m" };
    beforeEach(() => {
      const spoken = {
        id: 4,
        name: "g1-en-GB",
        lang: "en-GB",
        service: "g1",
        voiceName: "espeak:gmw/en",
      } as const;
      state = { ...state, voices: [...state.voices, british], systemVoices: [...systemVoices, spoken] };
    });

    it("are those in the language range and of the gender", () => {
      expect(namesFor({ lang: "en-gb" })).to.deep.equal(["British"]);
      expect(namesFor({ lang: "en", gender: "female" })).to.deep.equal([
        "Spoken here",
        "Native first",
        "Native only",
      ]);
      expect(namesFor({ gender: "m" })).to.deep.equal(["British"]);
      expect(namesFor({ lang: "fr" })).to.deep.equal([]);
    });

    it("include only the system voices that they refer to", () => {
      const ids = (filter: VoiceFilter) =>
        voices.collection("web_1", filter).systemVoices.map(({ id }) => id);
      expect(ids({ lang: "en-US", os: "Windows" })).to.deep.equal([1, 2]);
      expect(ids({ gender: "male" })).to.deep.equal([4]);
    });

    it("include the website's own", () => {
      own.set("web_1", premium);
      expect(namesFor({ lang: "en-US", os: "Windows" })).to.include("en-US-Neural2-C");
    });

    it("have their own revision, which is the same for each spelling of the filter", () => {
      const revision = (filter: VoiceFilter) => voices.collection("web_1", filter).revision;
      const filters = [
        {},
        { lang: "en" },
        { gender: "f" },
        { lang: "en", gender: "f" },
        { lang: "en", os: "Windows" },
      ] as const;
      expect(new Set(filters.map(revision)).size).to.equal(filters.length);
      expect(revision({ lang: "EN", gender: "female" })).to.equal(revision({ lang: "en", gender: "f" }));
    });
  });

  describe("have a revision", () => {
    const revision = (platform = {}, websiteId = "web_1") => voices.collection(websiteId, platform).revision;

    it("that is the same for the same voices, for any form of the request", () => {
      expect(revision({ os: "macOS" })).to.equal(revision());
      expect(revision({ os: "Windows" })).to.equal(revision({ os: "Linux", browser: "Firefox" }));
      expect(revision({}, "web_2")).to.equal(revision());
    });

    it("that changes with the catalog, with excluded voices and with a website's own voices", () => {
      const revisions = new Set([revision(), revision({ os: "Windows" })]);
      own.set("web_1", premium);
      revisions.add(revision());
      own.set("web_1", { ...premium, revision: "2" });
      revisions.add(revision());
      own.set("web_2", premium);
      revisions.add(revision({}, "web_2"));
      state = { ...state, revision: 7 };
      revisions.add(revision());
      expect(revisions.size).to.equal(6);
    });

    it("that a report changes only if it adds voices", () => {
      const before = revision({ browser: "Chrome", os: "Windows" });
      report("platform-chrome-windows", "Somebody else");
      expect(revision({ browser: "Chrome", os: "Windows" })).to.equal(before);
      report("platform-chrome-windows", "Alex");
      expect(revision({ browser: "Chrome", os: "Windows" })).to.equal(revision());
    });
  });

  describe("of its own providers", () => {
    beforeEach(() => own.set("web_1", premium));

    it("are added to the catalog's for this website only", () => {
      expect(namesFor()).to.include("en-US-Neural2-C");
      expect(voices.named("web_1", "en-US-Neural2-C").isByok).to.equal(true);
      expect(voices.inLanguage("web_1", "en-US").at(-1)?.provider).to.equal("google");
      expect(voices.collection("web_2").voices).to.have.length(3);
      expect(() => voices.named("web_2", "en-US-Neural2-C")).to.throw(NotFound);
    });

    it("change with the provider's voices and with the catalog", () => {
      own.set("web_1", { revision: "2", voices: [], systemVoices: [] });
      expect(namesFor()).to.have.length(3);
      own.set("web_1", premium);
      expect(namesFor()).to.have.length(4);
      state = { ...state, revision: 7, voices: [everywhere] };
      expect(namesFor()).to.deep.equal(["Spoken here", "en-US-Neural2-C"]);
    });

    it("come after the catalog's for the same name, in any case", () => {
      const shared = voice("Alloy", 1);
      state = { ...state, voices: [shared], systemVoices: [...systemVoices] };
      const labelOf = (added: Voice, name: string) => {
        own.set("web_1", { ...premium, revision: added.name, voices: [added] });
        const request = { name, lang: "en-US", ssml: false };
        return resolveVoices(catalogOf("web_1").index, request, () => true)[0];
      };
      expect(labelOf(voice("alloy", 900), "alloy")).to.deep.include({ label: "Alloy", engine: "g1" });
      expect(labelOf(voice("Verse", 900), "verse")).to.deep.include({ label: "Verse", engine: "gwn" });
      expect(labelOf(voice("alloy", 900), "ALLOY")).to.deep.include({ label: "Alloy", engine: "g1" });
      expect(labelOf(voice("Alloy", 900), "Alloy")).to.deep.include({ label: "Alloy", engine: "g1" });
    });

    it("are available on every platform", () => {
      expect(namesFor({ os: "Windows" })).to.include("en-US-Neural2-C");
    });
  });
});
