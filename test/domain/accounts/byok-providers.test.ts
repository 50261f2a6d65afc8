import { expect } from "chai";
import type { EngineCode as ClientEngineCode } from "../../../src/client/voices/voices.ts";
import { byokEngines, byokProviders, isByok } from "../../../src/domain/accounts/byok-providers.ts";
import { type EngineCode, engineCodes, engines, freeEngines } from "../../../src/domain/synthesis/speech.ts";

/** Compiles only if both unions are equal. */
const sameInClient = (code: EngineCode): ClientEngineCode => code;
const sameInService = (code: ClientEngineCode): EngineCode => code;

describe("The table of BYOK providers", () => {
  const rows = byokEngines.map((engine) => byokProviders[engine]);

  it("gives each provider its own name and a million catalog ids", () => {
    expect(new Set(rows.map(({ provider }) => provider)).size).to.equal(rows.length);
    const ids = rows.map(({ firstVoiceId }) => firstVoiceId);
    expect(new Set(ids).size).to.equal(rows.length);
    for (const id of ids) expect(id % 1_000_000).to.equal(0);
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

  it("has the engine codes that the client library has", () => {
    expect(engineCodes.map(sameInClient).map(sameInService)).to.deep.equal(engineCodes);
  });
});
