import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { createSealing, type SealContext, UnsealFailed } from "../../../src/application/accounts/sealing.ts";

const place: SealContext = { websiteId: "web_1", engine: "gwn" };
const [now, before, never] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
const sealingWith = (...keys: [Buffer, ...Buffer[]]) => createSealing({ keys, random: randomBytes });
const secret = '{"apiKey":"right-key-5e1f0c93"}';

describe("sealing", () => {
  it("can be opened with the key", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 2_000 }), (text) => {
        expect(sealingWith(now).open(sealingWith(now).seal(text, place), place)).to.equal(text);
      }),
    );
  });

  it("never returns the same result twice", () => {
    const all = Array.from({ length: 1_000 }, () => sealingWith(now).seal(secret, place).sealed);
    expect(new Set(all).size).to.equal(1_000);
    expect(new Set(all.map((sealed) => sealed.slice(0, 19))).size).to.equal(1_000); // the nonces
  });

  it("reveals neither the content nor the key", () => {
    const { sealed, keyId } = sealingWith(now).seal(secret, place);
    expect(sealed).to.match(/^v1\.[\w-]+$/);
    expect(Buffer.from(sealed.slice(3), "base64url").toString("latin1")).to.not.include("right-key");
    expect(keyId).to.match(/^[0-9a-f]{16}$/);
    expect(now.toString("hex")).to.not.include(keyId);
  });

  it("opens content sealed under a previous key, and seals under the current one", () => {
    const old = sealingWith(before).seal(secret, place);
    const rotated = sealingWith(now, before);
    expect(rotated.open(old, place)).to.equal(secret);
    const resealed = rotated.seal(secret, place);
    expect(resealed.keyId).to.equal(rotated.keyId).and.to.not.equal(old.keyId);
    expect(sealingWith(now).open(resealed, place)).to.equal(secret);
  });

  it("reports the id of a missing key", () => {
    const sealed = sealingWith(never).seal(secret, place);
    expect(() => sealingWith(now, before).open(sealed, place)).to.throw(UnsealFailed, sealed.keyId);
  });

  it("does not open content with a different key under the same id", () => {
    const { sealed } = sealingWith(never).seal(secret, place);
    const { keyId } = sealingWith(now);
    expect(() => sealingWith(now).open({ sealed, keyId }, place)).to.throw(UnsealFailed);
  });

  it("is bound to its website and engine", () => {
    const sealing = sealingWith(now);
    const sealed = sealing.seal(secret, place);
    for (const elsewhere of [
      { ...place, websiteId: "web_2" },
      { ...place, engine: "oai" },
      { websiteId: 'web_1","gwn', engine: "gwn" },
    ] as const) {
      expect(() => sealing.open(sealed, elsewhere)).to.throw(UnsealFailed);
    }
  });

  it("detects a change at any position", () => {
    const sealing = sealingWith(now);
    const { sealed, keyId } = sealing.seal(secret, place);
    const bytes = Buffer.from(sealed.slice(3), "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(
        () => sealing.open({ sealed: `v1.${changed.toString("base64url")}`, keyId }, place),
        `byte ${at}`,
      ).to.throw(UnsealFailed);
    }
  });

  it("refuses truncated, empty or malformed input", () => {
    const sealing = sealingWith(now);
    const { sealed, keyId } = sealing.seal(secret, place);
    for (const broken of [
      "",
      "v1.",
      sealed.slice(0, 40),
      sealed.slice(3),
      sealed.replace("v1", "v2"),
      "v1.v1",
    ]) {
      expect(() => sealing.open({ sealed: broken, keyId }, place), broken).to.throw(UnsealFailed);
    }
  });

  it("reveals nothing of the content when opening fails", () => {
    const sealing = sealingWith(now);
    const { sealed, keyId } = sealing.seal(secret, place);
    try {
      sealing.open({ sealed, keyId }, { ...place, websiteId: "web_2" });
      expect.fail("opened");
    } catch (error) {
      const disclosed = `${(error as Error).stack} ${JSON.stringify(error)} ${(error as Error).cause}`;
      for (const hidden of [secret, "right-key", sealed, now.toString("hex"), now.toString("base64")]) {
        expect(disclosed).to.not.include(hidden);
      }
    }
  });
});
