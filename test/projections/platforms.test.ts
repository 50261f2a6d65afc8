import { expect } from "chai";
import { isVoiceReported, platforms } from "../../projections/platforms.ts";
import type { View } from "../../projections/runner/view.ts";
import type { Platform, PlatformEvent } from "../../src/domain/catalog/platform.ts";
import { type PlatformParameters, parsePlatform } from "../../src/domain/catalog/platform-names.ts";
import type { SystemVoice } from "../../src/domain/synthesis/speech.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";

const at = "2026-03-01T12:00:00.000Z";
const samantha: SystemVoice = { id: 100_000, name: "Samantha", lang: "en-US" };

const recorded = (stream: string, data: PlatformEvent["data"], type = "VoicesReported"): RecordedEvent => ({
  id: crypto.randomUUID(),
  stream,
  type,
  data,
  metadata: {},
  revision: 0,
  position: 0,
  created: 0,
});

const reported = (stream: string, browserVersion: number, osVersion: number, name = "Samantha") =>
  recorded(stream, { browserVersion, osVersion, voices: [{ name, lang: "en-US", localService: true }], at });

const foldAll = (events: readonly RecordedEvent[]): View<Platform> => {
  const states = new Map<string, Platform>();
  for (const event of events) {
    const partition = platforms.partition(event) ?? "";
    states.set(partition, platforms.apply(states.get(partition) ?? platforms.initial(), event));
  }
  return states as unknown as View<Platform>;
};

const known = (view: View<Platform>, said: PlatformParameters, voice = samantha): boolean => {
  const platform = parsePlatform(said);
  return platform ? isVoiceReported(view, platform, voice) : expect.fail("no platform is named");
};

describe("the platforms projection", () => {
  const view = foldAll([reported("platform-safari-macos", 17, 14)]);

  it("reports a voice for its platform, and for no other", () => {
    expect(known(view, { browser: "Safari", os: "macOS" })).to.equal(true);
    expect(known(view, { browser: "Chrome", os: "macOS" })).to.equal(false);
    expect(known(view, { browser: "Safari", os: "iOS" })).to.equal(false);
    expect(known(view, { browser: "Netscape", os: "macOS" })).to.equal(false);
  });

  it("reports a voice for every platform that matches the query", () => {
    expect(known(view, { browser: "Safari" })).to.equal(true);
    expect(known(view, { os: "macOS" })).to.equal(true);
    expect(known(view, { os: "Windows" })).to.equal(false);
  });

  it("reports a voice for its versions and later ones", () => {
    const safari = { browser: "Safari", os: "macOS" };
    expect(known(view, { ...safari, browserVersion: "17.1", osVersion: "14.2" })).to.equal(true);
    expect(known(view, { ...safari, browserVersion: "18", osVersion: "15" })).to.equal(true);
    expect(known(view, { ...safari, browserVersion: "16" })).to.equal(false);
    expect(known(view, { ...safari, osVersion: "13" })).to.equal(false);
    const earlier = foldAll([
      reported("platform-safari-macos", 17, 14),
      reported("platform-safari-macos", 15, 12),
    ]);
    expect(known(earlier, { ...safari, browserVersion: "16", osVersion: "13" })).to.equal(true);
  });

  it("matches a system voice by name and language", () => {
    expect(known(view, { os: "macOS" }, { id: 1, name: "Samantha" })).to.equal(true);
    expect(known(view, { os: "macOS" }, { ...samantha, name: "Samantha (English (US))" })).to.equal(true);
    expect(known(view, { os: "macOS" }, { ...samantha, lang: "en-GB" })).to.equal(false);
    expect(known(view, { os: "macOS" }, { ...samantha, name: "Alex" })).to.equal(false);
  });

  it("has a state that is plain JSON", () => {
    const state = view.get("platform-safari-macos");
    expect(JSON.parse(JSON.stringify(state))).to.deep.equal(state);
  });

  it("treats names of JavaScript's object members as plain names", () => {
    const strange = foldAll([reported("platform-safari-macos", 17, 14, "__proto__")]);
    expect(known(strange, { os: "macOS" }, { ...samantha, name: "__proto__" })).to.equal(true);
    expect(known(strange, { os: "macOS" }, { ...samantha, name: "constructor" })).to.equal(false);
  });

  it("ignores an unknown event", () => {
    const before = platforms.initial();
    const event = recorded(
      "platform-safari-macos",
      { browserVersion: 1, osVersion: 1, voices: [], at },
      "Later",
    );
    expect(platforms.apply(before, event)).to.equal(before);
  });
});
