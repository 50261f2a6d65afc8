import { expect } from "chai";
import fc from "fast-check";
import type { ReportedVoice } from "../../../src/domain/catalog/event-shapes.ts";
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
/** The events that the reports produce in this order. */
const eventsOf = (reports: readonly ReportVoices[]): PlatformEvent[] => {
  const events: PlatformEvent[] = [];
  for (const one of reports) events.push(...reportVoices(given(events), one));
  return events;
};
const manyVoices = (count: number, prefix = "Voice"): ReportedVoice[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${prefix} ${i}`, lang: "en-US", localService: true }));

const hasReachedEventLimit = (state: Platform, { lang, name }: ReportedVoice): boolean =>
  state.voices[`${lang} ${name}`]?.reports === platformLimits.reportsPerVoice;

describe("the reported voices of a platform", () => {
  it("are recorded when they are new there", () => {
    expect(reportVoices(initialPlatform(), report({ voices: [samantha, daniel] }))).to.deep.equal([
      {
        type: "VoicesReported",
        data: { browserVersion: 120, osVersion: 14, voices: [samantha, daniel], at },
      },
    ]);
  });

  it("are not recorded again by the same report or one from a later version", () => {
    const known = given(eventsOf([report()]));
    expect(reportVoices(known, report())).to.deep.equal([]);
    expect(reportVoices(known, report({ browserVersion: 130, osVersion: 15 }))).to.deep.equal([]);
  });

  it("are recorded without those that are known already", () => {
    const [, second] = eventsOf([report(), report({ voices: [samantha, daniel] })]);
    expect(second?.data.voices).to.deep.equal([daniel]);
  });

  it("are recorded again when they are reported from an earlier version", () => {
    const events = eventsOf([report(), report({ browserVersion: 99 }), report({ osVersion: 12 })]);
    expect(events).to.have.length(3);
    expect(Object.values(given(events).voices)).to.deep.equal([
      { ...samantha, browserVersion: 99, osVersion: 12, reports: 3 },
    ]);
  });

  it("are recorded once if one report lists them twice", () => {
    const [event] = reportVoices(initialPlatform(), report({ voices: [samantha, samantha] }));
    expect(event?.data.voices).to.deep.equal([samantha]);
  });

  it("are limited in number", () => {
    const events = eventsOf([
      report({ voices: manyVoices(platformLimits.voices - 1) }),
      report({ voices: manyVoices(10, "Other") }),
      report({ voices: [daniel] }),
    ]);
    expect(Object.keys(given(events).voices)).to.have.length(platformLimits.voices);
    expect(events.map(({ data }) => data.voices.length)).to.deep.equal([platformLimits.voices - 1, 1]);
  });

  it("have a higher limit for voices of the catalog", () => {
    const isInCatalog = ({ name }: ReportedVoice) => name !== "Daniel";
    const events = eventsOf([
      report({ voices: manyVoices(platformLimits.voices) }),
      report({ isInCatalog, voices: [daniel, samantha] }),
      report({ isInCatalog, voices: manyVoices(2 * platformLimits.catalogVoices, "Other") }),
    ]);
    expect(events[1]?.data.voices).to.deep.equal([samantha]);
    expect(Object.keys(given(events).voices)).to.have.length(platformLimits.catalogVoices);
  });

  it("have a limited number of events per voice, whichever versions are reported", () => {
    const reports = Array.from({ length: 100 }, (_, i) => report({ browserVersion: 200 - i }));
    expect(eventsOf(reports)).to.have.length(platformLimits.reportsPerVoice);
  });

  it("are never recorded twice or beyond the limits, for any reports", () => {
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
        const events = eventsOf(all.map(report));
        const state = given(events);
        const reports = Object.values(state.voices).map(({ reports }) => reports);
        expect(Math.max(0, ...reports)).to.be.at.most(platformLimits.reportsPerVoice);
        for (const one of all) {
          const recordedAgain = reportVoices(state, report(one)).flatMap(({ data }) => data.voices);
          expect(recordedAgain.filter((voice) => !hasReachedEventLimit(state, voice))).to.deep.equal([]);
        }
      }),
      { numRuns: 50 },
    );
  });

  it("have one stream for each browser on each operating system", () => {
    const streams = browsers.flatMap((browser) => operatingSystems.map((os) => platformStream(browser, os)));
    expect(platformStream("chrome", "windows")).to.equal("platform-chrome-windows");
    expect(new Set(streams).size).to.equal(browsers.length * operatingSystems.length);
  });

  it("do not change on an event of an unknown type", () => {
    const state = given(eventsOf([report()]));
    expect(platformDecider.evolve(state, { type: "Later", data: {} } as unknown as PlatformEvent)).to.equal(
      state,
    );
  });
});

describe("the normalization of a reported voice", () => {
  const voice = (name: string, lang = "en-US") => normalizeVoice({ name, lang, localService: true });

  it("keeps the voice's own name, canonical language and localService", () => {
    expect(
      normalizeVoice({ name: " Daniel (Englisch (UK)) ".trim(), lang: "en_gb", localService: false }),
    ).to.deep.equal({
      name: "Daniel",
      lang: "en-GB",
      localService: false,
    });
  });

  it("accepts a name in any script", () => {
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

  it("rejects names that could identify a person or a machine", () => {
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

  it("rejects a voice without a valid language", () => {
    for (const lang of ["", "x", "english, mostly", "e".repeat(36)]) {
      expect(voice("Samantha", lang), lang).to.equal(undefined);
    }
  });

  it("reads the major number of a version, 0 if it has none", () => {
    expect(
      ["120.0.6099.109", "17_4", "NT 10.0", "v8", "", "x", "20261121"].map(majorVersionOrZero),
    ).to.deep.equal([120, 17, 10, 8, 0, 0, 0]);
  });
});

describe("the names of platforms", () => {
  it("are recognized in the spellings that clients use", () => {
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

  it("select a platform by the named browser or system, and none if neither is named", () => {
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
  it("has no duplicates", () => {
    const keys = nativeVoices.map(({ name, lang }) => `${lang} ${name}`);
    expect(new Set(keys).size).to.equal(keys.length);
  });

  it("has names that reports accept, and canonical languages", () => {
    for (const { name, lang } of nativeVoices) {
      expect(normalizeVoice({ name, lang, localService: true }), name).to.deep.include({
        name: ownName(name),
        lang,
      });
    }
  });

  it("matches a voice by its own name, without a browser's suffixes", () => {
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

  it("matches a voice in any Unicode normalization form", () => {
    const amelie = { name: "Amélie", lang: "fr-CA" };
    expect(isSameVoice(amelie, { ...amelie, name: "Amélie (French)".normalize("NFD") })).to.equal(true);
  });

  it("keeps a name that would be empty without its suffix", () => {
    for (const name of ["(one)", "（一）", "Desktop"]) expect(ownName(name)).to.equal(name);
    expect(isSameVoice({ name: "(one)" }, { name: "(two)", lang: "en-US" })).to.equal(false);
  });

  it("filters voices by browser, by operating system or by both", () => {
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
