import { expect } from "chai";
import { isWellFormed as isWellFormedEvent } from "../../src/domain/event-shapes.ts";

const at = "2026-11-05T10:00:00.000Z";
const used = { requestId: "r", request: "parameters", at };
const counted = { minute: 1, keys: ["k"], counts: [1], at };
const plan = { tier: "free", requestsPerMinute: 100, monthlyCharacters: null };

/** In a stream of its kind. */
const isWellFormed = ({ type, data }: { readonly type: string; readonly data: unknown }): boolean =>
  isWellFormedEvent({ stream: streamOf[type] ?? "key-k", type, data, metadata: {} });

const streamOf: Readonly<Record<string, string>> = {
  IdempotencyKeyUsed: "idempotency-k-d",
  RequestsCounted: "rate-i",
  WebsiteConfigured: "website-w",
  VoiceAdded: "catalog",
  SystemVoiceAdded: "catalog",
};

describe("the validation of stored events", () => {
  it("accepts events as this release writes them", () => {
    for (const [type, data] of [
      ["IdempotencyKeyUsed", used],
      ["IdempotencyKeyUsed", { ...used, repeat: true }],
      ["RequestsCounted", counted],
      ["KeyIssued", { apiKey: "k", websiteId: "w", plan, at }],
      ["SecretRevoked", { secretId: "s", at }],
      ["WebsiteConfigured", { config: {}, at }],
      ["VoiceAdded", { voice: { name: "v", flag: "gb", gender: "f", lang: "en-GB", voiceIDs: [1] }, at }],
      ["SystemVoiceAdded", { systemVoice: { id: 1, name: "v" }, at }],
    ] as const) {
      expect(isWellFormed({ type, data }), type).to.equal(true);
    }
  });

  it("accepts unknown members and codes that a newer release may have added", () => {
    const data = { plan: { ...plan, tier: "gold" }, more: null, at };
    expect(isWellFormed({ type: "PlanChanged", data })).to.equal(true);
  });

  it("refuses an event with a missing member or a member of the wrong type", () => {
    for (const name of Object.keys(used)) {
      for (const value of [undefined, null, {}, [1], true]) {
        const data = { ...used, [name]: value };
        expect(isWellFormed({ type: "IdempotencyKeyUsed", data }), `${name}: ${value}`).to.equal(false);
      }
    }
  });

  it("refuses counts that are not safe non-negative integers", () => {
    for (const minute of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "11"]) {
      const data = { ...counted, minute };
      expect(isWellFormed({ type: "RequestsCounted", data }), String(minute)).to.equal(false);
    }
  });

  it("refuses times that do not begin with a day in UTC", () => {
    const none = ["", "now", "2026-11-05", "2026-13-05T10:00:00Z", "2026-11-05T10:00:00+01:00"];
    for (const time of [...none, "2026-11-05T24:00:00Z", "2026-11-05T29:00:00Z"]) {
      expect(isWellFormed({ type: "SecretRevoked", data: { secretId: "s", at: time } }), time).to.equal(
        false,
      );
    }
  });

  it("refuses data that is not a JSON object, for any event type", () => {
    for (const type of ["RequestsCounted", "KeyIssued", "AnotherProgramsEvent"]) {
      for (const data of [null, undefined, "text", 5, [], new Uint8Array(3)]) {
        expect(isWellFormed({ type, data }), `${type} ${data}`).to.equal(false);
      }
    }
  });

  it("accepts event types that this release does not know", () => {
    for (const type of ["AnotherProgramsEvent", "constructor", "__proto__"]) {
      expect(isWellFormed({ type, data: {} }), type).to.equal(true);
    }
  });

  it("refuses an event of a known type in a stream of another kind", () => {
    const data = { secretId: "s", hash: "5ec2e7", at };
    const isWellFormedIn = (stream: string) =>
      isWellFormedEvent({ stream, type: "SecretCreated", data, metadata: {} });
    expect(isWellFormedIn("key-k")).to.equal(true);
    for (const stream of ["rate-i", "idempotency-k-d", "health", "keys", "xkey-k", "website-key-k", ""]) {
      expect(isWellFormedIn(stream), stream).to.equal(false);
    }
    const voice = { name: "v", at };
    const isWellFormedVoiceIn = (stream: string) =>
      isWellFormedEvent({ stream, type: "VoiceDeprecated", data: voice, metadata: {} });
    expect(["catalog", "catalog-x", "catalogs"].map(isWellFormedVoiceIn)).to.deep.equal([true, false, false]);
  });

  it("refuses an event whose type is not text, or whose metadata is not a JSON object", () => {
    const event = { stream: "key-k", type: "SecretRevoked", data: { secretId: "s", at }, metadata: {} };
    expect(isWellFormedEvent(event)).to.equal(true);
    for (const change of [{ type: 5 }, { type: undefined }, { metadata: undefined }, { metadata: [1] }]) {
      expect(isWellFormedEvent({ ...event, ...change }), JSON.stringify(change)).to.equal(false);
    }
  });
});
