import { expect } from "chai";
import fc from "fast-check";
import { isAvailableOn, isSameVoice, ownName } from "../../../src/domain/catalog/native-voice.ts";
import {
  initialPlatform,
  majorVersionOrZero,
  normalizeVoice,
  type Platform,
  type PlatformEvent,
  platformDecider,
  platformLimits,
  platformStream,
  type ReportedVoice,
  type ReportVoices,
  reportVoices,
} from "../../../src/domain/catalog/platform.ts";
import {
  browsers,
  findBrowser,
  findOperatingSystem,
  majorVersion,
  operatingSystems,
  parsePlatform,
} from "../../../src/domain/catalog/platform-names.ts";
import { nativeVoices } from "../../../src/domain/catalog/seed/native-voices.ts";

const at = "2026-03-01T12:00:00.000Z";
const samantha: ReportedVoice = { name: "Samantha", lang: "en-US", localService: true };
const daniel: ReportedVoice = { name: "Daniel", lang: "en-GB", localService: true };

const report = (changes: Partial<ReportVoices> = {}): ReportVoices => ({
  browserVersion: 120,
  osVersion: 14,
  voices: [samantha],
  isInCatalog: () => false,
  at,
  ...changes,
});
const given = (events: readonly PlatformEvent[]): Platform =>
  events.reduce(platformDecider.evolve, initialPlatform());
/** What reports lead to, one after the other. */
const heard = (reports: readonly ReportVoices[]): PlatformEvent[] => {
  const events: PlatformEvent[] = [];
  for (const one of reports) events.push(...reportVoices(given(events), one));
  return events;
};
const manyVoices = (count: number, prefix = "Voice"): ReportedVoice[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${prefix} ${i}`, lang: "en-US", localService: true }));

const isToldToTheEnd = (state: Platform, { lang, name }: ReportedVoice): boolean =>
  state.voices[`${lang} ${name}`]?.told === platformLimits.tellings;

describe("a platform", () => {
  it("is told of voices that were not known there", () => {
    expect(reportVoices(initialPlatform(), report({ voices: [samantha, daniel] }))).to.deep.equal([
      {
        type: "VoicesReported",
        data: { browserVersion: 120, osVersion: 14, voices: [samantha, daniel], at },
      },
    ]);
  });

  it("is told nothing by the same report again, nor by one from a later version", () => {
    const known = given(heard([report()]));
    expect(reportVoices(known, report())).to.deep.equal([]);
    expect(reportVoices(known, report({ browserVersion: 130, osVersion: 15 }))).to.deep.equal([]);
  });

  it("is told only of what is new in a report", () => {
    const [, second] = heard([report(), report({ voices: [samantha, daniel] })]);
    expect(second?.data.voices).to.deep.equal([daniel]);
  });

  it("learns that a voice was there in earlier versions", () => {
    const events = heard([report(), report({ browserVersion: 99 }), report({ osVersion: 12 })]);
    expect(events).to.have.length(3);
    expect(Object.values(given(events).voices)).to.deep.equal([
      { ...samantha, browserVersion: 99, osVersion: 12, told: 3 },
    ]);
  });

  it("is told of a voice that a report lists twice once", () => {
    const [event] = reportVoices(initialPlatform(), report({ voices: [samantha, samantha] }));
    expect(event?.data.voices).to.deep.equal([samantha]);
  });

  it("takes so many voices and no more", () => {
    const events = heard([
      report({ voices: manyVoices(platformLimits.voices - 1) }),
      report({ voices: manyVoices(10, "Other") }),
      report({ voices: [daniel] }),
    ]);
    expect(Object.keys(given(events).voices)).to.have.length(platformLimits.voices);
    expect(events.map(({ data }) => data.voices.length)).to.deep.equal([platformLimits.voices - 1, 1]);
  });

  it("still takes the catalog's voices where there is no room for others", () => {
    const isInCatalog = ({ name }: ReportedVoice) => name !== "Daniel";
    const events = heard([
      report({ voices: manyVoices(platformLimits.voices) }),
      report({ isInCatalog, voices: [daniel, samantha] }),
      report({ isInCatalog, voices: manyVoices(2 * platformLimits.withTheCatalogs, "Other") }),
    ]);
    expect(events[1]?.data.voices).to.deep.equal([samantha]);
    expect(Object.keys(given(events).voices)).to.have.length(platformLimits.withTheCatalogs);
  });

  it("is told of one voice so many times and no more, whatever versions are reported", () => {
    const reports = Array.from({ length: 100 }, (_, i) => report({ browserVersion: 200 - i }));
    expect(heard(reports)).to.have.length(platformLimits.tellings);
  });

  it("hears of nothing twice, and never more often than its bounds allow, whatever is reported", () => {
    const voice = fc.record({
      name: fc.string({ minLength: 1, maxLength: 2 }),
      lang: fc.constantFrom("en-US", "de-DE"),
      localService: fc.boolean(),
    });
    const reports = fc.array(
      fc.record({ browserVersion: fc.nat(9), osVersion: fc.nat(9), voices: fc.array(voice) }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(reports, (all) => {
        const events = heard(all.map(report));
        const state = given(events);
        const tellings = Object.values(state.voices).map(({ told }) => told);
        expect(Math.max(0, ...tellings)).to.be.at.most(platformLimits.tellings);
        for (const one of all) {
          const news = reportVoices(state, report(one)).flatMap(({ data }) => data.voices);
          expect(news.filter((voice) => !isToldToTheEnd(state, voice))).to.deep.equal([]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("is a stream for each browser on each system, and no more streams than those", () => {
    const streams = browsers.flatMap((browser) => operatingSystems.map((os) => platformStream(browser, os)));
    expect(platformStream("chrome", "windows")).to.equal("platform-chrome-windows");
    expect(new Set(streams).size).to.equal(browsers.length * operatingSystems.length);
  });

  it("stays as it is after an event that it does not know", () => {
    const state = given(heard([report()]));
    expect(platformDecider.evolve(state, { type: "Later", data: {} } as unknown as PlatformEvent)).to.equal(
      state,
    );
  });
});

describe("what is kept of a reported voice", () => {
  const voice = (name: string, lang = "en-US") => normalizeVoice({ name, lang, localService: true });

  it("is its own name, its canonical language and where it speaks", () => {
    expect(
      normalizeVoice({ name: " Daniel (Englisch (UK)) ".trim(), lang: "en_gb", localService: false }),
    ).to.deep.equal({
      name: "Daniel",
      lang: "en-GB",
      localService: false,
    });
  });

  it("is a name in any script", () => {
    for (const name of [
      "Google 日本語",
      "Google हिन्दी",
      "Amélie",
      "Microsoft Aria Online",
      "J'anna, 2.0 & co_+",
    ]) {
      expect(voice(name)?.name, name).to.equal(name);
    }
  });

  it("is nothing of what could tell of a person or a machine", () => {
    for (const name of [
      "/Users/jane/Library/Voices/x",
      "C:\\Users\\jane",
      "file:voice",
      "jane@shop.example",
      "call 5551234",
      "<b>x</b>",
      "two\nlines",
      "\u202Eevil",
      "",
      " ",
      "x".repeat(101),
    ]) {
      expect(voice(name), name).to.equal(undefined);
    }
  });

  it("is nothing without a language", () => {
    for (const lang of ["", "x", "english, mostly", "e".repeat(36)]) {
      expect(voice("Samantha", lang), lang).to.equal(undefined);
    }
  });

  it("is the version's major number, 0 for none", () => {
    expect(
      ["120.0.6099.109", "17_4", "NT 10.0", "v8", "", "x", "20261121"].map(majorVersionOrZero),
    ).to.deep.equal([120, 17, 10, 8, 0, 0, 0]);
  });
});

describe("a platform's names", () => {
  it("are known however clients word them", () => {
    for (const name of ["Chrome", "Google Chrome", "Mobile Chrome", "CriOS"]) {
      expect(findBrowser(name), name).to.equal("chrome");
    }
    for (const name of ["Edge", "Microsoft Edge", "Edg"]) expect(findBrowser(name), name).to.equal("edge");
    for (const name of ["macOS", "Mac OS X", "Mac OS", "OS X"])
      expect(findOperatingSystem(name), name).to.equal("macos");
    for (const name of ["iOS", "iPadOS", "iPhone OS"])
      expect(findOperatingSystem(name), name).to.equal("ios");
    for (const name of ["", "constructor", "__proto__", "toString"]) {
      expect(findBrowser(name), name).to.equal(undefined);
    }
  });

  it("ask about what is said, and about nothing when neither browser nor system is", () => {
    expect(parsePlatform({})).to.equal(undefined);
    expect(parsePlatform({ browserVersion: "120", osVersion: "14" })).to.equal(undefined);
    expect(parsePlatform({ os: "macOS", osVersion: "14.2.1", browserVersion: "120" })).to.deep.equal({
      os: "macos",
      osVersion: 14,
    });
    expect(parsePlatform({ browser: "Netscape", browserVersion: "4" })).to.deep.equal({
      browser: "unknown",
      browserVersion: 4,
    });
  });

  it("have major versions of at most three digits", () => {
    expect(majorVersion("999")).to.equal(999);
    expect(majorVersion("1000")).to.equal(undefined);
    expect(majorVersion(undefined)).to.equal(undefined);
  });
});

describe("the table of native voices", () => {
  it("lists each once", () => {
    const keys = nativeVoices.map(({ name, lang }) => `${lang} ${name}`);
    expect(new Set(keys).size).to.equal(keys.length);
  });

  it("has names that are plausible in reports, in canonical languages", () => {
    for (const { name, lang } of nativeVoices) {
      expect(normalizeVoice({ name, lang, localService: true }), name).to.deep.include({
        name: ownName(name),
        lang,
      });
    }
  });

  it("knows a voice by its own name, whatever a browser adds to it", () => {
    const zira = { name: "Microsoft Zira", lang: "en-US" };
    for (const name of [
      "Microsoft Zira",
      "Microsoft Zira - English (United States)",
      "Microsoft Zira Desktop - English (United States)",
    ]) {
      expect(isSameVoice(zira, { name, lang: "en-us" }), name).to.equal(true);
    }
    expect(isSameVoice(zira, { name: "Microsoft Zira", lang: "de-DE" })).to.equal(false);
    expect(isSameVoice({ name: "Microsoft Zira" }, { name: "Microsoft Zira", lang: "de-DE" })).to.equal(true);
    expect(isSameVoice(zira, { name: "Microsoft Ziraffe", lang: "en-US" })).to.equal(false);
  });

  it("knows a voice in any Unicode normalisation", () => {
    const amelie = { name: "Amélie", lang: "fr-CA" };
    expect(isSameVoice(amelie, { ...amelie, name: "Amélie (French)".normalize("NFD") })).to.equal(true);
  });

  it("keeps a name that would be nothing without what a browser may have added", () => {
    for (const name of ["(one)", "（一）", "Desktop"]) expect(ownName(name)).to.equal(name);
    expect(isSameVoice({ name: "(one)" }, { name: "(two)", lang: "en-US" })).to.equal(false);
  });

  it("tells where they are, as far as it is asked", () => {
    const native = (name: string) => nativeVoices.find((one) => one.name === name) ?? expect.fail(name);
    expect(isAvailableOn(native("Samantha"), { os: "macos" })).to.equal(true);
    expect(isAvailableOn(native("Samantha"), { browser: "unknown", os: "ios" })).to.equal(true);
    expect(isAvailableOn(native("Samantha"), { browser: "chrome" })).to.equal(true);
    expect(isAvailableOn(native("Samantha"), { browser: "chrome", os: "windows" })).to.equal(false);
    expect(isAvailableOn(native("Google US English"), { browser: "chrome" })).to.equal(true);
    expect(isAvailableOn(native("Google US English"), { browser: "edge", os: "windows" })).to.equal(false);
    expect(isAvailableOn(native("Google US English"), { browser: "chrome", os: "android" })).to.equal(false);
    expect(isAvailableOn(native("Google US English"), { os: "unknown" })).to.equal(false);
  });
});
