import { randomBytes } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import {
  type CredentialsOwner,
  createCredentialsCipher,
  DecryptionFailed,
} from "../../../src/application/accounts/credentials-cipher.ts";

const place: CredentialsOwner = { websiteId: "web_1", engine: "gwn" };
const [now, before, never] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
const cipherWith = (...keys: [Buffer, ...Buffer[]]) => createCredentialsCipher({ keys, random: randomBytes });
const secret = '{"apiKey":"right-key-5e1f0c93"}';

describe("the cipher of credentials", () => {
  it("can be opened with the key", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 2_000 }), (text) => {
        expect(cipherWith(now).decrypt(cipherWith(now).encrypt(text, place), place)).to.equal(text);
      }),
    );
  });

  it("never returns the same result twice", () => {
    const all = Array.from({ length: 1_000 }, () => cipherWith(now).encrypt(secret, place).ciphertext);
    expect(new Set(all).size).to.equal(1_000);
    expect(new Set(all.map((encrypted) => encrypted.slice(0, 19))).size).to.equal(1_000); // the nonces
  });

  it("reveals neither the content nor the key", () => {
    const { ciphertext, keyId } = cipherWith(now).encrypt(secret, place);
    expect(ciphertext).to.match(/^v1\.[\w-]+$/);
    expect(Buffer.from(ciphertext.slice(3), "base64url").toString("latin1")).to.not.include("right-key");
    expect(keyId).to.match(/^[0-9a-f]{16}$/);
    expect(now.toString("hex")).to.not.include(keyId);
  });

  it("opens content encrypted under a previous key, and encrypts under the current one", () => {
    const old = cipherWith(before).encrypt(secret, place);
    const rotated = cipherWith(now, before);
    expect(rotated.decrypt(old, place)).to.equal(secret);
    const reencrypted = rotated.encrypt(secret, place);
    expect(reencrypted.keyId).to.equal(rotated.keyId).and.to.not.equal(old.keyId);
    expect(cipherWith(now).decrypt(reencrypted, place)).to.equal(secret);
  });

  it("reports the id of a missing key", () => {
    const encrypted = cipherWith(never).encrypt(secret, place);
    expect(() => cipherWith(now, before).decrypt(encrypted, place)).to.throw(
      DecryptionFailed,
      encrypted.keyId,
    );
  });

  it("does not open content with a different key under the same id", () => {
    const { ciphertext } = cipherWith(never).encrypt(secret, place);
    const { keyId } = cipherWith(now);
    expect(() => cipherWith(now).decrypt({ ciphertext, keyId }, place)).to.throw(DecryptionFailed);
  });

  it("is bound to its website and engine", () => {
    const cipher = cipherWith(now);
    const encrypted = cipher.encrypt(secret, place);
    for (const elsewhere of [
      { ...place, websiteId: "web_2" },
      { ...place, engine: "oai" },
      { websiteId: 'web_1","gwn', engine: "gwn" },
    ] as const) {
      expect(() => cipher.decrypt(encrypted, elsewhere)).to.throw(DecryptionFailed);
    }
  });

  it("detects a change at any position", () => {
    const cipher = cipherWith(now);
    const { ciphertext, keyId } = cipher.encrypt(secret, place);
    const bytes = Buffer.from(ciphertext.slice(3), "base64url");
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(
        () => cipher.decrypt({ ciphertext: `v1.${changed.toString("base64url")}`, keyId }, place),
        `byte ${at}`,
      ).to.throw(DecryptionFailed);
    }
  });

  it("refuses truncated, empty or malformed input", () => {
    const cipher = cipherWith(now);
    const { ciphertext, keyId } = cipher.encrypt(secret, place);
    for (const broken of [
      "",
      "v1.",
      ciphertext.slice(0, 40),
      ciphertext.slice(3),
      ciphertext.replace("v1", "v2"),
      "v1.v1",
    ]) {
      expect(() => cipher.decrypt({ ciphertext: broken, keyId }, place), broken).to.throw(DecryptionFailed);
    }
  });

  it("reveals nothing of the content when opening fails", () => {
    const cipher = cipherWith(now);
    const { ciphertext, keyId } = cipher.encrypt(secret, place);
    try {
      cipher.decrypt({ ciphertext, keyId }, { ...place, websiteId: "web_2" });
      expect.fail("opened");
    } catch (error) {
      const disclosed = `${(error as Error).stack} ${JSON.stringify(error)} ${(error as Error).cause}`;
      for (const hidden of [secret, "right-key", ciphertext, now.toString("hex"), now.toString("base64")]) {
        expect(disclosed).to.not.include(hidden);
      }
    }
  });
});
