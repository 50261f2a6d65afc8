import { createHmac } from "node:crypto";
import { expect } from "chai";
import { admin, authorize, type Credentials, registerWebsite } from "../../../support/client.ts";
import { duringSuite } from "../../../support/during.ts";
import { ask, startInProcessService } from "../../../support/in-process-service.ts";
import { adminToken } from "../../../support/service.ts";

const path = "/v2/text/synthesize";
const spoken = { voice: "UK English Female", text: "ten chars!" };

describe("a request with an Idempotency-Key", () => {
  const service = duringSuite(startInProcessService);
  let website: Credentials;
  beforeEach(async () => {
    website = await registerWebsite(service.url, { monthlyCharacters: 10 });
  });

  const get = (key: string, parameters: Record<string, string> = spoken, headers = {}) =>
    ask(`${service.url}${path}?${new URLSearchParams(parameters)}`, {
      headers: { ...authorize(website), "Idempotency-Key": key, ...headers },
    });
  const post = (key: string, body: object = spoken) =>
    ask(service.url + path, {
      method: "POST",
      headers: { ...authorize(website), "Content-Type": "application/json", "Idempotency-Key": key },
      body: JSON.stringify(body),
    });
  /** Read from the log itself: the views follow it with a delay. */
  const audit = () =>
    ask(`${service.url}/admin/audit?apiKey=${website.apiKey}`, {
      headers: { Authorization: `Bearer ${adminToken}` },
    });
  const used = async (): Promise<number> => {
    const events = (await audit()).text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    return events.reduce(
      (sum, { type, data }) => sum + (type === "SynthesisServed" ? data.characters : 0),
      0,
    );
  };

  it("is charged once, however often it is repeated, with GET or POST", async () => {
    for (const { status } of [await get("a"), await get("a"), await post("a"), await get("a")]) {
      expect(status).to.equal(200);
    }
    expect(await used()).to.equal(10);
  });

  it("is charged once for several ranges", async () => {
    for (const range of ["bytes=0-9", "bytes=10-"]) {
      expect((await get("a", spoken, { Range: range })).status).to.equal(206);
    }
    expect((await get("a")).status).to.equal(200);
    expect(await used()).to.equal(10);
  });

  it("is refused with 400 if the value was used for another request; the key stays active", async () => {
    await get("a");
    for (const { status, text } of [
      await get("a", { ...spoken, rate: "1.5" }),
      await post("a", { ...spoken, text: "x" }),
    ]) {
      expect(status).to.equal(400);
      const { error } = JSON.parse(text);
      expect(error).to.include({ code: "VALIDATION_ERROR" });
      expect(error.errors[0].path).to.deep.equal(["Idempotency-Key"]);
    }
    expect((await get("a")).status).to.equal(200);
  });

  it("is refused with 400 if the value is empty, too long or not printable ASCII", async () => {
    for (const key of ["", "x".repeat(256), "caf\u00e9"]) expect((await get(key)).status).to.equal(400);
    expect((await get("x".repeat(255))).status).to.equal(200);
  });

  it("is refused with 400 if the repeat chooses other lexicons", async () => {
    for (const name of ["one", "two"]) {
      const rules = [{ grapheme: "W3C", alias: name }];
      await admin(service.url, "PUT", `/websites/${website.id}/lexicons/${name}`, { rules });
    }
    const statusWith = async (lexicon: string): Promise<number> => {
      const locators = [{ pronunciation_dictionary_id: lexicon }];
      const { status } = await ask(`${service.url}/elevenlabs/v1/text-to-speech/UK_English_Female`, {
        method: "POST",
        headers: { ...authorize(website), "Content-Type": "application/json", "Idempotency-Key": "a" },
        body: JSON.stringify({ text: "The W3C.", pronunciation_dictionary_locators: locators }),
      });
      return status;
    };
    expect([await statusWith("one"), await statusWith("one"), await statusWith("two")]).to.deep.equal([
      200, 200, 400,
    ]);
  });

  it("is recorded without a digest by which a guessed text can be confirmed", async () => {
    await get("a");
    const guess = ["ten chars!", "UK English Female", null, null, null, null, 1, 1, 1, null, null];
    const digest = createHmac("sha256", website.apiKey).update(JSON.stringify(guess)).digest("base64url");
    const { text } = await audit();
    expect(text).to.include('"idempotency"').and.not.include(digest.slice(0, 22));
  });

  it("does not share values between websites", async () => {
    await get("a");
    website = await registerWebsite(service.url, { monthlyCharacters: 10 });
    expect((await get("a", { ...spoken, text: "other text" })).status).to.equal(200);
    expect(await used()).to.equal(10);
  });
});
