import { expect } from "chai";
import { messageFromBody, redact } from "../../../src/engines/provider-http/redact.ts";

const said = (value: unknown) => messageFromBody(JSON.stringify(value));

describe("A provider's words", () => {
  it("are found where providers put them", () => {
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

  it("are none where it says nothing that a caller could use", () => {
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

  it("are one line of bounded length", () => {
    expect(messageFromBody("one\r\n\ttwo\u0000\u2028three")).to.equal("one two three");
    const long = messageFromBody("word ".repeat(200));
    expect(long).to.have.length(300);
    expect(long).to.match(/…$/);
    expect(messageFromBody(`${"x ".repeat(149)}😀😀`)?.isWellFormed()).to.equal(true);
  });

  for (const [what, words] of Object.entries({
    "a key of OpenAI's": "Incorrect API key provided: sk-proj-Ab1_cdEFghijkl. See the docs.",
    "a key that is masked": "Incorrect API key provided: my-k**********Ab1. See the docs.",
    "a bearer": "The header Authorization: Bearer Ab1.cd-EF~gh+ij/kl== was refused.",
    "basic credentials": "Basic QWIxOmNk was refused.",
    "a key of Google's": "The key AIzaSyAb1cdEFghijklmnopqrstuvwxyz012345 is not valid.",
    "a token of Google's": "ya29.Ab1cdEFgh-ij_kl has expired.",
    "a web token": "eyJhbGciOiJIUzI1NiJ9.eyJBYjEiOjF9.Ab1cdEFgh has expired.",
    "a named value": 'Wrong subscription-key="Ab1cdEF" and api_key: Ab1ghi.',
    "an opaque string": "The resource 0123456789Ab1def0123456789abcdef is gone.",
    "an address with credentials": "See https://Ab1:secret@proxy.example/path now.",
    "an address with a query": "See https://api.example/path?sig=Ab1&x=1#Ab1 now.",
  })) {
    it(`never hold ${what}`, () => {
      const clean = redact(words);
      expect(clean).not.to.match(/Ab1|QWIx|eyJ/);
      expect(clean).to.match(/^(The|See|Incorrect|Basic|Wrong|…)/);
    });
  }

  it("never hold what is to be hidden, the longest first", () => {
    expect(redact("Your key is hunter2hunter2.", ["hunter2", "hunter2hunter2"])).to.equal("Your key is ….");
  });

  it("never hold a part of what is to be hidden by which it could be known", () => {
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

  it("keep what is no secret", () => {
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

  it("never hold half of a credential that is cut off", () => {
    const opaque = `${"0123456789abcdef".repeat(7)} `;
    for (let before = 17 * opaque.length - 40; before < 18 * opaque.length; before++) {
      const clean = redact(`${opaque.repeat(18).slice(0, before)} sk-Ab1cdEFghijklmnop said so.`) ?? "";
      expect(clean).not.to.match(/Ab1/);
    }
  });

  it("take no longer for a body that is made to", () => {
    const hostile = ["a".repeat(100_000), "*".repeat(100_000), "a:".repeat(50_000), "key=".repeat(25_000)];
    for (const body of [...hostile, `https://${"a@".repeat(50_000)}`, "[".repeat(100_000)]) {
      expect((messageFromBody(body) ?? "").length).to.be.at.most(300);
    }
  });
});
