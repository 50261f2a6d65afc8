import { expect } from "chai";
import {
  addSystemVoice,
  addVoice,
  type Catalog,
  type CatalogEvent,
  catalogDecider,
  changeVoice,
  deprecateSystemVoice,
  deprecateVoice,
  firstOperatorId,
  initialCatalog,
  nextSystemVoiceId,
  seedCatalog,
} from "../../../src/domain/catalog/catalog.ts";
import type { CatalogVoices } from "../../../src/domain/catalog/voice-names.ts";
import { Conflict, Invalid, NotFound } from "../../../src/domain/errors.ts";
import type { SystemVoice, Voice } from "../../../src/domain/synthesis/speech.ts";

const at = "2026-01-01T00:00:00.000Z";
const later = "2026-02-01T00:00:00.000Z";
const one: SystemVoice = { id: 1, name: "g1-de", lang: "de-DE", service: "g1", voiceName: "espeak:gmw/de" };
const two: SystemVoice = { ...one, id: 2, name: "g2-de", service: "g2" };
const german: Voice = { name: "German Male", flag: "de", gender: "m", lang: "de-DE", voiceIDs: [1, 2] };
const seed: CatalogVoices = { voices: [german], systemVoices: [one, two] };

const given = (...events: readonly CatalogEvent[]): Catalog =>
  events.reduce(catalogDecider.evolve, initialCatalog());
const seeded = given(...seedCatalog(initialCatalog(), seed, at));

const problemsOf = (command: () => unknown): (string | number)[] => {
  try {
    command();
  } catch (error) {
    if (error instanceof Invalid) return error.problems.flatMap(({ path }) => path);
    throw error;
  }
  throw new Error("it was not refused");
};

describe("the catalog's seed", () => {
  it("fills an empty catalog, with system voices before the voices that refer to them", () => {
    expect(seedCatalog(initialCatalog(), seed, at)).to.deep.equal([
      { type: "SystemVoiceAdded", data: { systemVoice: one, at } },
      { type: "SystemVoiceAdded", data: { systemVoice: two, at } },
      { type: "VoiceAdded", data: { voice: german, at } },
    ]);
  });

  it("produces no events on a second start", () => {
    expect(seedCatalog(seeded, seed, later)).to.deep.equal([]);
  });

  it("adds only the new voices of a newer release", () => {
    const three = { ...one, id: 3, name: "g1-fr" };
    const newer = { voices: [german], systemVoices: [one, two, three] };
    expect(seedCatalog(seeded, newer, later)).to.deep.equal([
      { type: "SystemVoiceAdded", data: { systemVoice: three, at: later } },
    ]);
  });

  it("does not overwrite an operator's changes", () => {
    const catalog = given(
      ...seedCatalog(initialCatalog(), seed, at),
      ...changeVoice(seeded, { name: german.name, change: { voiceIDs: [2] }, at }),
      ...deprecateSystemVoice(seeded, { id: 1, at }),
    );
    expect(seedCatalog(catalog, seed, later)).to.deep.equal([]);
    expect(catalog.voices.get(german.name)?.voiceIDs).to.deep.equal([2]);
  });

  it("does not replace an operator's voice of the same name", () => {
    const own = { ...german, voiceIDs: [2] };
    const catalog = given(
      { type: "SystemVoiceAdded", data: { systemVoice: two, at } },
      { type: "VoiceAdded", data: { voice: own, at } },
    );
    expect(seedCatalog(catalog, seed, later).map(({ type }) => type)).to.deep.equal(["SystemVoiceAdded"]);
  });
});

describe("a voice", () => {
  const bavarian = { ...german, name: "Bavarian Male" };

  it("is added with a unique name", () => {
    expect(addVoice(seeded, { voice: bavarian, at })).to.deep.equal([
      { type: "VoiceAdded", data: { voice: bavarian, at } },
    ]);
    expect(() => addVoice(seeded, { voice: german, at })).to.throw(Conflict);
  });

  it("may have a name that differs from another only in case", () => {
    expect(addVoice(seeded, { voice: { ...german, name: "german male" }, at })).to.have.length(1);
  });

  it("is refused if one of its system voices does not exist", () => {
    const voice = { ...bavarian, voiceIDs: [1, 7, 8] };
    expect(problemsOf(() => addVoice(seeded, { voice, at }))).to.deep.equal(["voiceIDs", 1, "voiceIDs", 2]);
    const change = { voiceIDs: [9] };
    expect(problemsOf(() => changeVoice(seeded, { name: german.name, change, at }))).to.deep.equal([
      "voiceIDs",
      0,
    ]);
  });

  for (const name of [
    "",
    " a",
    "a ",
    "a/b",
    "a\\b",
    "a\nb",
    "a\u0000",
    "a\u202eb",
    "..",
    "a\ud800",
    "x".repeat(101),
  ]) {
    it(`cannot be named ${JSON.stringify(name.slice(0, 20))}`, () => {
      expect(problemsOf(() => addVoice(seeded, { voice: { ...german, name }, at }))).to.deep.equal(["name"]);
    });
  }

  for (const name of [
    "K'iche' Female",
    "日本語 女性",
    "en-US-Neural2-C",
    "x".repeat(100),
    "😀".repeat(100),
  ]) {
    it(`can be named ${JSON.stringify(name.slice(0, 20))}`, () => {
      expect(addVoice(seeded, { voice: { ...german, name }, at })).to.have.length(1);
    });
  }

  for (const [member, value] of [
    ["flag", "DE"],
    ["gender", "x"],
    ["lang", "no language"],
    ["voiceIDs", []],
    ["voiceIDs", [1, 1]],
  ] as const) {
    it(`refuses ${member} with the value ${JSON.stringify(value)}`, () => {
      const voice = { ...bavarian, [member]: value };
      expect(problemsOf(() => addVoice(seeded, { voice, at }))).to.deep.equal([member]);
    });
  }

  it("is refused with an unknown member", () => {
    expect(problemsOf(() => addVoice(seeded, { voice: { ...bavarian, secret: 1 }, at }))).to.deep.equal([
      "secret",
    ]);
  });

  it("can change except for its name, and the event contains the whole voice", () => {
    const events = changeVoice(seeded, { name: german.name, change: { flag: "at", lang: "de-AT" }, at });
    const voice = { ...german, flag: "at", lang: "de-AT" };
    expect(events).to.deep.equal([{ type: "VoiceChanged", data: { voice, at } }]);
    expect(
      problemsOf(() => changeVoice(seeded, { name: german.name, change: { name: "x" }, at })),
    ).to.deep.equal(["name"]);
  });

  it("produces no event when it is unchanged", () => {
    expect(
      changeVoice(seeded, { name: german.name, change: { flag: "de", voiceIDs: [1, 2] }, at: later }),
    ).to.deep.equal([]);
  });

  it("produces one event when it is deprecated twice, and can be restored", () => {
    const events = deprecateVoice(seeded, { name: german.name, at });
    expect(events).to.deep.equal([{ type: "VoiceDeprecated", data: { name: german.name, at } }]);
    const catalog = events.reduce(catalogDecider.evolve, seeded);
    expect(catalog.voices.get(german.name)).to.deep.equal({ ...german, deprecated: true });
    expect(deprecateVoice(catalog, { name: german.name, at })).to.deep.equal([]);
    expect(changeVoice(catalog, { name: german.name, change: { deprecated: false }, at })).to.have.length(1);
  });

  it("cannot be changed or deprecated if it does not exist", () => {
    expect(() => changeVoice(seeded, { name: "x", change: {}, at })).to.throw(NotFound);
    expect(() => deprecateVoice(seeded, { name: "x", at })).to.throw(NotFound);
  });
});

describe("a system voice", () => {
  const own = { ...one, id: firstOperatorId, name: "own", fallbackVoice: true };

  it("is a fallback voice if and only if the service speaks it", () => {
    const { service: _, voiceName: __, fallbackVoice: ___, ...native } = own;
    const { fallbackVoice: ____, ...spoken } = own;
    const added = (systemVoice: SystemVoice) => addSystemVoice(seeded, { systemVoice, at })[0]?.data;
    expect(added(spoken)).to.deep.equal({ systemVoice: own, at });
    expect(added(native)).to.deep.equal({ systemVoice: native, at });
  });

  it("of an operator gets an id outside the range of releases", () => {
    expect(addSystemVoice(seeded, { systemVoice: own, at })).to.deep.equal([
      { type: "SystemVoiceAdded", data: { systemVoice: own, at } },
    ]);
    expect(problemsOf(() => addSystemVoice(seeded, { systemVoice: { ...own, id: 3 }, at }))).to.deep.equal([
      "id",
    ]);
  });

  it("has a unique id, and a unique name within its engine", () => {
    const catalog = addSystemVoice(seeded, { systemVoice: own, at }).reduce(catalogDecider.evolve, seeded);
    expect(nextSystemVoiceId(seeded)).to.equal(firstOperatorId);
    expect(nextSystemVoiceId(catalog)).to.equal(firstOperatorId + 1);
    const again = (change: Partial<SystemVoice>) => () =>
      addSystemVoice(catalog, { systemVoice: { ...own, ...change }, at });
    expect(again({ name: "other" })).to.throw(Conflict);
    expect(again({ id: firstOperatorId + 1 })).to.throw(Conflict);
    expect(again({ id: firstOperatorId + 1, service: "g3" })()).to.have.length(1);
  });

  it("requires prosody factors within the limits of a request", () => {
    const systemVoice = { ...own, pitch: 3, rate: -1, volume: 2 };
    expect(problemsOf(() => addSystemVoice(seeded, { systemVoice, at }))).to.have.members([
      "pitch",
      "rate",
      "volume",
    ]);
  });

  it("produces one event when it is deprecated twice", () => {
    const events = deprecateSystemVoice(seeded, { id: 1, at });
    expect(events).to.deep.equal([{ type: "SystemVoiceDeprecated", data: { id: 1, at } }]);
    const catalog = events.reduce(catalogDecider.evolve, seeded);
    expect(catalog.systemVoices.get(1)).to.deep.equal({ ...one, deprecated: true });
    expect(deprecateSystemVoice(catalog, { id: 1, at })).to.deep.equal([]);
    expect(() => deprecateSystemVoice(catalog, { id: 7, at })).to.throw(NotFound);
  });
});

describe("the catalog's state", () => {
  it("is immutable", () => {
    const before = structuredClone(seeded);
    catalogDecider.evolve(seeded, { type: "VoiceDeprecated", data: { name: german.name, at } });
    catalogDecider.evolve(seeded, { type: "SystemVoiceAdded", data: { systemVoice: { ...one, id: 9 }, at } });
    expect(seeded).to.deep.equal(before);
  });

  it("does not change on an event of an unknown type", () => {
    expect(catalogDecider.evolve(seeded, { type: "VoiceSung", data: {} } as never)).to.equal(seeded);
  });
});
