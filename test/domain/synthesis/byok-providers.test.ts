import { expect } from "chai";
import { byokEngines, byokProviders, isByok } from "../../../src/domain/synthesis/byok-providers.ts";
import { engineCodes, engines, freeEngines } from "../../../src/domain/synthesis/speech.ts";
import { firstVoiceIds, idsOfProvider } from "../../../src/domain/synthesis/voice-ids.ts";

describe("The table of BYOK providers", () => {
  const rows = byokEngines.map((engine) => byokProviders[engine]);

  it("gives each provider its own name and a million catalog ids", () => {
    expect(new Set(rows.map(({ provider }) => provider)).size).to.equal(rows.length);
    for (const { firstVoiceId } of rows) {
      const others = Object.values(firstVoiceIds).filter((id) => id !== firstVoiceId);
      expect(others).to.have.length(Object.keys(firstVoiceIds).length - 1);
      expect(others.filter((id) => id > firstVoiceId && id < firstVoiceId + idsOfProvider)).to.deep.equal([]);
    }
    expect(new Set(rows.map(({ firstVoiceId }) => firstVoiceId)).size).to.equal(rows.length);
  });

  for (const engine of byokEngines) {
    it(`documents ${engine} with valid credentials that contain a secret`, () => {
      const { credentials, example, secrets } = byokProviders[engine];
      expect(credentials.safeParse(example).success).to.equal(true);
      expect(Object.keys(example).some((member) => (secrets as readonly string[]).includes(member))).to.equal(
        true,
      );
    });
  }

  it("contains every engine code that is not free", () => {
    expect(engineCodes.filter(isByok)).to.deep.equal(byokEngines);
    expect(engineCodes.filter((code) => !isByok(code))).to.deep.equal([...freeEngines]);
    expect(Object.keys(engines)).to.have.members([...engineCodes]);
  });
});
