import { expect } from "chai";
import { retirementNotice, retirementOf } from "../../../src/domain/accounts/model-retirements.ts";

const end = Date.parse("2027-01-06T00:00:00Z");

describe("A model that OpenAI ends", () => {
  for (const model of ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "tts-1-1106", "gpt-4o-mini-tts-2025-12-15"]) {
    it(`is known with its date and replacement: ${model}`, () => {
      expect(retirementOf("https://api.openai.com/v1", model)).to.deep.equal({
        ...{ model, date: "2027-01-06", replacement: "gpt-realtime-2.1-mini" },
      });
    });
  }
  for (const [model, replacement] of [
    ["gpt-realtime", "gpt-realtime-2.1"],
    ["gpt-realtime-2025-08-28", "gpt-realtime-2.1"],
    ["gpt-realtime-mini", "gpt-realtime-2.1-mini"],
  ] as const) {
    it(`is known with its date and replacement: ${model}`, () => {
      const retirement = { model, date: "2027-01-20", replacement };
      expect(retirementOf("https://api.openai.com/v1", model)).to.deep.equal(retirement);
    });
  }
  for (const [url, model] of [
    ["https://api.openai.com", "gpt-realtime-2.1-mini"],
    ["https://api.openai.com", "constructor"],
    ["https://tts.example/v1", "tts-1"],
    ["http://127.0.0.1:8880/v1", "tts-1"],
    ["no url", "tts-1"],
  ] as const) {
    it(`is not every model of every server: ${model} at ${url}`, () => {
      expect(retirementOf(url, model)).to.equal(undefined);
    });
  }

  it("is announced until its date, and reported from then on", () => {
    const retirement = retirementOf("https://api.openai.com", "tts-1");
    if (!retirement) throw new Error("unknown");
    expect(retirementNotice(retirement, end - 1)).to.equal(
      'The model tts-1 stops working on 2027-01-06: set the credentials again with "model": "gpt-realtime-2.1-mini".',
    );
    expect(retirementNotice(retirement, end)).to.include("has stopped working on 2027-01-06");
  });
});
