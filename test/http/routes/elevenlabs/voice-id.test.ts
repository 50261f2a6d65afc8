import { expect } from "chai";
import fc from "fast-check";
import { voiceName } from "../../../../src/domain/synthesis/voice-name.ts";
import { voiceId, voiceIdOf, voiceNameOf } from "../../../../src/http/routes/elevenlabs/voice-id.ts";

describe("The id of a voice in ElevenLabs' API", () => {
  it("is readable", () => {
    expect(voiceIdOf("UK English Female")).to.equal("UK_English_Female");
    expect(voiceIdOf("Chinese (Hong Kong) Female")).to.equal("Chinese_~28Hong_Kong~29_Female");
  });

  it("leads back to every name, and needs no encoding in a path", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (name) => {
        const id = voiceIdOf(name);
        expect(id).to.match(/^[A-Za-z0-9._~-]+$/);
        expect(voiceNameOf(id)).to.equal(name);
        if (voiceName.safeParse(name).success) expect(voiceId.safeParse(id).success).to.equal(true);
      }),
    );
  });

  it("may also be a name itself", () => {
    for (const name of ["UK English Female", "espeak:gmw/en+f3", "~GG", "~FF", "a/b", ""]) {
      expect(voiceNameOf(name)).to.equal(name);
    }
  });
});
