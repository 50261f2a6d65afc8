import { expect } from "chai";
import { type CatalogState, catalog } from "../../projections/catalog.ts";
import { catalogIndexOf } from "../../src/application/catalog/catalog-index-of.ts";
import {
  type CatalogEvent,
  catalogDecider,
  initialCatalog,
  seedCatalog,
} from "../../src/domain/catalog/catalog.ts";
import { releaseSeed } from "../../src/domain/catalog/seed/seed.ts";
import type { SystemVoice, Voice } from "../../src/domain/synthesis/speech.ts";
import type { RecordedEvent } from "../../src/eventstore/event-store.ts";

const at = "2026-01-01T00:00:00.000Z";
const later = "2026-02-01T00:00:00.000Z";
const systemVoice: SystemVoice = {
  id: 1,
  name: "g1-de",
  lang: "de-DE",
  service: "g1",
  voiceName: "espeak:gmw/de",
};
const voice: Voice = { name: "German Male", flag: "de", gender: "m", lang: "de-DE", voiceIDs: [1] };
const both: readonly CatalogEvent[] = [
  { type: "SystemVoiceAdded", data: { systemVoice, at } },
  { type: "VoiceAdded", data: { voice, at } },
];

const recorded = (event: { type: string; data: object }, revision: number): RecordedEvent => ({
  ...event,
  id: crypto.randomUUID(),
  metadata: {},
  stream: "catalog",
  revision,
  position: revision,
  created: 0,
});
const foldAll = (events: readonly CatalogEvent[]): CatalogState =>
  events.map(recorded).reduce(catalog.apply, catalog.initial());

describe("the catalog projection", () => {
  it("folds the stream `catalog` only", () => {
    const event = recorded({ type: "VoiceAdded", data: { voice, at } }, 0);
    expect(catalog.partition(event)).to.equal("catalog");
    expect(catalog.partition({ ...event, stream: "catalog-of-somebody" })).to.equal(undefined);
  });

  it("shows what was added, changed and deprecated", () => {
    const state = foldAll([
      ...both,
      { type: "VoiceChanged", data: { voice: { ...voice, flag: "at" }, at } },
      { type: "VoiceDeprecated", data: { name: voice.name, at } },
      { type: "SystemVoiceDeprecated", data: { id: 1, at: later } },
    ]);
    expect(state).to.deep.equal({
      revision: 5,
      updatedAt: later,
      voices: [{ ...voice, flag: "at", deprecated: true }],
      systemVoices: [{ ...systemVoice, deprecated: true }],
      chosen: null,
    });
  });

  it("equals the aggregate's state after the seed", () => {
    const events = seedCatalog(initialCatalog(), releaseSeed(), at);
    const aggregate = events.reduce(catalogDecider.evolve, initialCatalog());
    const state = foldAll(events);
    expect(state.revision).to.equal(events.length);
    expect(state.voices).to.deep.equal([...aggregate.voices.values()]);
    expect(state.systemVoices).to.deep.equal([...aggregate.systemVoices.values()]);
  });

  it("has a state that is plain JSON", () => {
    const state = foldAll(both);
    expect(JSON.parse(JSON.stringify(state))).to.deep.equal(state);
  });

  it("ignores an unknown event", () => {
    const state = foldAll(both);
    expect(catalog.apply(state, recorded({ type: "VoiceSung", data: {} }, 2)).revision).to.equal(2);
  });

  it("has a new revision after every change", () => {
    const revisions = [0, 1, 2].map((count) => foldAll(both.slice(0, count)).revision);
    expect(revisions).to.deep.equal([0, 1, 2]);
  });
});

describe("the catalog index", () => {
  it("finds voices by name and language, and system voices by id and engine", () => {
    const index = catalogIndexOf(foldAll(both));
    expect(index.voice("German Male")).to.deep.equal(voice);
    expect(index.voice("german male")).to.equal(undefined);
    expect(index.voicesIn("de-DE")).to.deep.equal([voice]);
    expect(index.voicesIn("de-de")).to.deep.equal([]);
    expect(index.systemVoice(1)).to.deep.equal(systemVoice);
    expect(index.spokenBy("g1")).to.deep.equal([systemVoice]);
    expect(index.spokenBy("g2")).to.deep.equal([]);
  });

  it("is built once for each revision", () => {
    const state = foldAll(both);
    expect(catalogIndexOf(state)).to.equal(catalogIndexOf(state));
  });

  it("is up to date with its state", () => {
    const state = foldAll(both);
    expect(catalogIndexOf(state).voice(voice.name)?.deprecated).to.equal(undefined);
    catalog.apply(state, recorded({ type: "VoiceDeprecated", data: { name: voice.name, at } }, 2));
    expect(catalogIndexOf(state).voice(voice.name)?.deprecated).to.equal(true);
  });
});
