import { expect } from "chai";
import fc from "fast-check";
import { type CatalogState, catalog } from "../../projections/catalog.ts";
import { type CatalogEntry, catalogEntries } from "../../projections/catalog-entries.ts";
import { history } from "./eventstoredb/histories.ts";
import { recordEvents, viewOf } from "./fold-events.ts";

const at = "2026-01-01T00:00:00.000Z";
const voice = { name: "German Male", flag: "de", gender: "m", lang: "de-DE", voiceIDs: [1] };

describe("the entries of the catalog", () => {
  it("are together what the service's view has, for every history", () => {
    fc.assert(
      fc.property(history(), (events) => {
        const recorded = recordEvents(events);
        const whole = viewOf(catalog, recorded).get("catalog") ?? catalog.initial();
        expect(together([...viewOf(catalogEntries, recorded).entries()])).to.deep.equal(whole);
      }),
      { numRuns: 50 },
    );
  });

  it("ignore the changes of a voice that was never added", () => {
    const unknown = [
      { stream: "catalog", type: "VoiceChanged", data: { voice, at } },
      { stream: "catalog", type: "VoiceDeprecated", data: { name: voice.name, at } },
    ];
    expect(viewOf(catalogEntries, recordEvents(unknown)).get("voice-German Male")).to.deep.equal(
      catalogEntries.initial(),
    );
  });

  it("are of the stream `catalog` only, and of known events", () => {
    const [other, unknown] = recordEvents([
      { stream: "catalog-of-somebody", type: "VoiceAdded", data: { voice, at } },
      { stream: "catalog", type: "SomethingNewer", data: { at } },
    ]);
    expect(other && catalogEntries.partition(other)).to.equal(undefined);
    expect(unknown && catalogEntries.partition(unknown)).to.equal(undefined);
  });
});

/** The service's view, made from the entries. */
const together = (entries: readonly (readonly [string, CatalogEntry])[]): CatalogState => {
  const added = entries.filter(([, { entry }]) => entry !== null);
  const ofKind = <T>(kind: string): T[] =>
    added.filter(([partition]) => partition.startsWith(kind)).map(([, { entry }]) => entry as T);
  const last = added.map(([, one]) => one).toSorted((a, b) => b.revision - a.revision)[0];
  return {
    revision: last?.revision ?? 0,
    updatedAt: last?.updatedAt ?? null,
    voices: ofKind("voice-"),
    systemVoices: ofKind("system-voice-"),
    chosen: ofKind<CatalogState["chosen"]>("choice")[0] ?? null,
  };
};
