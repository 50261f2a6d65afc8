import { expect } from "chai";
import { createGallery } from "../../../src/application/gallery/gallery.ts";
import type { Planner, SynthesisRequest } from "../../../src/application/synthesis/planner.ts";
import type { Rendition } from "../../../src/audio/pipeline/pipeline.ts";
import { indexCatalog } from "../../../src/domain/catalog/catalog-index.ts";
import { NotFound } from "../../../src/domain/errors.ts";
import type { SystemVoice, Voice } from "../../../src/domain/synthesis/speech.ts";

const speaker = (id: number, voiceName: string, service: SystemVoice["service"] = "g1"): SystemVoice => ({
  ...{ id, name: `system-${id}`, lang: "en-GB", gender: "f", voiceName },
  ...(service && { service }),
});
const friendly = (name: string, voiceIDs: readonly number[], deprecated = false): Voice => ({
  ...{ name, flag: "gb", gender: "f", lang: "en-GB", voiceIDs, deprecated },
});

const systemVoices = [
  speaker(1, "espeak:one"),
  speaker(2, "hibari:two"),
  speaker(3, "espeak:three", "g2"),
  speaker(4, "alloy", "oai"),
];
const voices = [
  friendly("One", [1]),
  friendly("Two", [2, 1]),
  friendly("Also one", [1]),
  friendly("Old", [1], true),
  friendly("Paid", [4]),
];

/** A gallery of the given voices, in their order, without an engine for BYOK. */
const setUp = (installed: readonly string[]) => {
  const state = { revision: "1", now: 0 };
  const planned: Partial<SynthesisRequest>[] = [];
  const index = indexCatalog({ voices, systemVoices });
  const plan = (request: SynthesisRequest) => {
    planned.push(request);
    const ids = index.voice(request.voice ?? "")?.voiceIDs;
    const renditions = systemVoices
      .filter(({ id, name }) => ids?.includes(id) ?? name === request.name)
      .sort((a, b) => (ids?.indexOf(a.id) ?? 0) - (ids?.indexOf(b.id) ?? 0))
      .map(({ name, service, voiceName = "" }): Partial<Rendition> => {
        const tools = installed.includes(voiceName) ? "1.0" : "none";
        const recipe = {
          engine: service,
          voice: voiceName,
          tools,
          text: request.text,
        } as Rendition["recipe"];
        return { recipe, hash: voiceName, name: `public/${voiceName}.mp3`, systemVoice: name };
      });
    if (renditions.length === 0) throw new NotFound("nobody speaks it");
    return { renditions };
  };
  const gallery = createGallery({
    catalogOf: () => ({ revision: state.revision, index }),
    plan: plan as unknown as Planner["plan"],
    samples: { get: () => ({ spoken: { "espeak:one": true } }) } as never,
    clock: () => state.now,
  });
  return { gallery, state, planned };
};

describe("the voices of the gallery", () => {
  const all = ["espeak:one", "hibari:two", "espeak:three", "alloy"];

  it("are those that this instance speaks for everybody, each once with all of its names, the best first", async () => {
    const shown = await setUp(all).gallery.voices();
    expect(shown.map(({ names, engine }) => [names, engine.quality])).to.deep.equal([
      [["Two"], "natural"],
      [["One", "Also one"], "classic"],
      [["system-3"], "classic"],
    ]);
  });

  it("have the voice that speaks instead of one that is not installed", async () => {
    const shown = await setUp(["espeak:one"]).gallery.voices();
    expect(shown.map(({ names }) => names)).to.deep.equal([["One", "Two", "Also one"]]);
  });

  it("keep their samples' objects from retention, and no others", async () => {
    const { gallery } = setUp(all);
    const shown = await gallery.voices();
    expect(gallery.hasAudio("public/hibari:two.mp3")).to.equal(true);
    expect(gallery.hasAudio("public/alloy.mp3")).to.equal(false);
    expect(shown.map(gallery.isSpoken)).to.deep.equal([false, true, false]);
  });

  it("are planned again when the catalog changes, or after an hour", async () => {
    const { gallery, state, planned } = setUp(all);
    const first = await gallery.voices();
    const { length } = planned;
    expect(await gallery.voices()).to.equal(first);
    state.now += 3_600_000;
    expect(await gallery.voices()).to.not.equal(first);
    state.revision = "2";
    await gallery.voices();
    expect(planned).to.have.length(3 * length);
  });
});
