import { expect } from "chai";
import { hashSecret, matchingSecret } from "../../../src/application/access/secrets.ts";

describe("the match of a presented secret", () => {
  const secrets = ["one", "two", "three"].map((name) => ({ secretId: name, hash: hashSecret(name) }));

  it("is the entry with its hash", () => {
    for (const secret of secrets) expect(matchingSecret(secret.secretId, secrets)).to.equal(secret);
  });

  it("is not found for another secret, or among another key's secrets", () => {
    for (const secret of ["", "four", "one ", "One", hashSecret("one")]) {
      expect(matchingSecret(secret, secrets)).to.equal(undefined);
    }
    expect(matchingSecret("one", secrets.slice(1))).to.equal(undefined);
    expect(matchingSecret("one", [])).to.equal(undefined);
  });

  it("is not found for a damaged hash", () => {
    const damaged = [{ hash: "" }, { hash: "zz" }, { hash: hashSecret("one").slice(2) }];
    expect(matchingSecret("one", damaged)).to.equal(undefined);
  });
});
