import { expect } from "chai";
import { createSecretMatcher, hashSecret } from "../../../src/application/access/secrets.ts";

const storedAs = (secretId: string, secret: string) => ({ secretId, hash: hashSecret(secret) });

describe("the match of a presented secret", () => {
  const first = storedAs("sec_1", "one");
  const second = storedAs("sec_2", "two");

  it("is the entry with its hash, each time", () => {
    const match = createSecretMatcher();
    for (let times = 0; times < 2; times++) {
      expect(match("one", [first, second])).to.equal(first);
      expect(match("two", [first, second])).to.equal(second);
      expect(match("three", [first, second])).to.equal(undefined);
    }
  });

  it("ends when the secret is revoked, although it has matched before", () => {
    const match = createSecretMatcher();
    match("one", [first, second]);
    expect(match("one", [second])).to.equal(undefined);
    expect(match("one", [])).to.equal(undefined);
  });

  it("is not found among another key's secrets", () => {
    const match = createSecretMatcher();
    match("one", [first]);
    expect(match("one", [storedAs("sec_1", "another")])).to.equal(undefined);
  });
});
