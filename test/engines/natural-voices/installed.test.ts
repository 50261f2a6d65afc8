import { expect } from "chai";
import {
  naturalVoicesFolder,
  openNaturalVoices,
} from "../../../src/engines/natural-voices/natural-voices.ts";

/*
 * Tests of natural voices skip where their voices are missing. This test fails there, so that a run
 * of all tests cannot pass without them. Kokoro's voices and an arm64 processor are optional.
 */
describe("The natural voices for tests", () => {
  it("are installed, as scripts/setup leaves them", async () => {
    const { installed } = await openNaturalVoices(naturalVoicesFolder(undefined));
    const names = [
      "hibari:heart",
      ...["de-DE", "en-GB", "en-US", "es-ES", "fr-FR", "it-IT"].map((lang) => `pico:${lang}`),
    ];
    expect([...installed.keys()], "run scripts/natural-voices").to.include.members(names);
  });
});
