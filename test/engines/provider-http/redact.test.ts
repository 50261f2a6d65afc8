import { expect } from "chai";
import { messageFromBody, redact } from "../../../src/engines/provider-http/redact.ts";

const said = (value: unknown) => messageFromBody(JSON.stringify(value));

describe("A provider's error message", () => {
  it("is found where providers put it", () => {
    expect(said({ error: { message: "Too much.", type: "requests" } })).to.equal("Too much.");
    expect(said({ error: "model_not_found" })).to.equal("model_not_found");
    expect(said({ message: "Not here." })).to.equal("Not here.");
    expect(said({ detail: [{ loc: ["body", "voice"], msg: "field required" }] })).to.equal("field required");
    expect(said({ detail: { error: "validation_error", message: "Voice not found" } })).to.equal(
      "Voice not found",
    );
    expect(said({ error: "invalid_grant", error_description: "Bad signature." })).to.equal("Bad signature.");
    expect(said([{ error: { message: "In a list." } }])).to.equal("In a list.");
    expect(messageFromBody("Quota exceeded\n")).to.equal("Quota exceeded");
  });

  it("is absent when the response contains nothing useful to a caller", () => {
    for (const body of [
      "",
      "  ",
      "{}",
      '{"error":{"message":',
      "<html><h1>502</h1></html>",
      "[1,2]",
      "null",
    ]) {
      expect(messageFromBody(body) ?? "", body).to.match(/^(null)?$/);
    }
  });

  it("is reduced to one line of bounded length", () => {
    expect(messageFromBody("one\r\n\ttwo\u0000\u2028three")).to.equal("one two three");
    const long = messageFromBody("word ".repeat(200));
    expect(long).to.have.length(300);
    expect(long).to.match(/…$/);
    expect(messageFromBody(`${"x ".repeat(149)}😀😀`)?.isWellFormed()).to.equal(true);
  });

  for (const [what, words] of Object.entries({
    "an OpenAI key": "Incorrect API key provided: sk-proj-Ab1_cdEFghijkl. See the docs.",
    "a masked key": "Incorrect API key provided: my-k**********Ab1. See the docs.",
    "a bearer": "The header Authorization: Bearer Ab1.cd-EF~gh+ij/kl== was refused.",
    "basic credentials": "Basic QWIxOmNk was refused.",
    "a Google API key": "The key AIzaSyAb1cdEFghijklmnopqrstuvwxyz012345 is not valid.",
    "a Google access token": "ya29.Ab1cdEFgh-ij_kl has expired.",
    "a JSON Web Token": "eyJhbGciOiJIUzI1NiJ9.eyJBYjEiOjF9.Ab1cdEFgh has expired.",
    "a named value": 'Wrong subscription-key="Ab1cdEF" and api_key: Ab1ghi.',
    "an opaque string": "The resource 0123456789Ab1def0123456789abcdef is gone.",
    "an address with credentials": "See https://Ab1:secret@proxy.example/path now.",
    "an address with a query": "See https://api.example/path?sig=Ab1&x=1#Ab1 now.",
  })) {
    it(`never contains ${what}`, () => {
      const clean = redact(words);
      expect(clean).not.to.match(/Ab1|QWIx|eyJ/);
      expect(clean).to.match(/^(The|See|Incorrect|Basic|Wrong|…)/);
    });
  }

  it("never contains the given secrets, of which the longest are replaced first", () => {
    expect(redact("Your key is hunter2hunter2.", ["hunter2", "hunter2hunter2"])).to.equal("Your key is ….");
  });

  it("never contains a recognizable part of the given secrets", () => {
    const text = "Tom & Jerry went to the bank on Friday, and nobody knows why.";
    for (const quoted of [
      "Tom & Jerry went to the b",
      " &amp; Jerry went to the bank on Friday",
      text.slice(20),
    ]) {
      const clean = redact(`Cannot speak '${quoted}' here.`, [text]);
      expect(clean).to.match(/^Cannot speak '.{0,10}…' here\.$/);
      expect(clean).not.to.match(/went|bank|why/);
    }
    expect(redact("Jerry went away, nobody knows.", [text])).to.equal("Jerry went away, nobody knows.");
  });

  it("keeps text that is not secret", () => {
    for (const words of [
      "The model 'gpt-4o-mini-tts' does not exist.",
      "Input should be one of alloy, ash, ballad, coral.",
      "Invalid 'input': string too long. Expected a string with maximum length 4096.",
      "See https://platform.openai.com/account/api-keys for more.",
      "Rate limit reached for gpt-4o-mini-tts in organization org-abc on requests per min.",
    ]) {
      expect(redact(words)).to.equal(words);
    }
  });

  it("never contains half of a credential at the truncation", () => {
    const opaque = `${"0123456789abcdef".repeat(7)} `;
    for (let before = 17 * opaque.length - 40; before < 18 * opaque.length; before++) {
      const clean = redact(`${opaque.repeat(18).slice(0, before)} sk-Ab1cdEFghijklmnop said so.`) ?? "";
      expect(clean).not.to.match(/Ab1/);
    }
  });

  it("is redacted in linear time for hostile bodies", () => {
    const hostile = ["a".repeat(100_000), "*".repeat(100_000), "a:".repeat(50_000), "key=".repeat(25_000)];
    for (const body of [...hostile, `https://${"a@".repeat(50_000)}`, "[".repeat(100_000)]) {
      expect((messageFromBody(body) ?? "").length).to.be.at.most(300);
    }
  });
});
