import { expect } from "chai";
import { voiceMapOf } from "../../../../src/http/routes/openai/voice-map.ts";

describe("the map of OpenAI's voices", () => {
  it("finds names in their own case, or else ignoring it", () => {
    const { find } = voiceMapOf({ bot: "A", Bot: "B" });
    expect(["bot", "Bot", "Nova"].map((name) => find(name)?.name)).to.deep.equal([
      ...["A", "B", "UK English Female"],
    ]);
    expect(find("nobody")).to.equal(undefined);
  });

  it("has the operator's entries instead of default ones, whose names may be written in another case", () => {
    const { find, entries } = voiceMapOf({ Alloy: "German Female" });
    for (const name of ["alloy", "Alloy", "ALLOY"])
      expect(find(name)).to.deep.equal({ name: "German Female" });
    expect(entries.filter(([name]) => /^alloy$/i.test(name))).to.have.length(1);
  });
});
