import { expect } from "chai";
import type { Principal } from "../../../src/application/access/principal.ts";
import type { Ledger } from "../../../src/application/ledger/ledger.ts";
import { createDelivery, type Sound } from "../../../src/application/synthesis/delivery.ts";
import type { SynthesisPlan } from "../../../src/application/synthesis/planner.ts";
import type { Pipeline } from "../../../src/audio/pipeline/pipeline.ts";
import { renditionOf } from "../../audio/pipeline/renditions.ts";

const principal = { apiKey: "k" } as Principal;
const plan = {
  characters: 6,
  silent: false,
  renditions: [renditionOf("Hello.")],
} as unknown as SynthesisPlan;

describe("A delivery", () => {
  const made = { provenance: "miss" } as Sound;
  const kept = { provenance: "miss" } as Sound;
  const pipeline = { obtain: async () => made, asKept: async () => kept } as unknown as Pipeline;
  const ledger = { reserveQuota: async () => undefined } as unknown as Ledger;

  for (const [extent, sound] of [
    ["whole", made],
    ["part", kept],
    ["uncertain", kept],
  ] as const) {
    it(`takes ${sound === kept ? "only the stored bytes" : "any bytes"} for the extent ${extent}`, async () => {
      const { obtain } = createDelivery({ pipeline, ledger });
      const context = { principal, requestId: "r" };
      expect(await obtain(plan, context, extent, new AbortController().signal)).to.equal(sound);
    });
  }
});
