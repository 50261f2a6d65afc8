import { expect } from "chai";
import {
  createNamingKey,
  type InstallationKeysEvent,
  masterKeyDecider,
  recognizeMasterKey,
  reencryptNamingKey,
  replaceMasterKey,
  UnknownMasterKey,
} from "../../../src/domain/accounts/master-key.ts";

const at = "2026-11-05T10:00:00.000Z";
const recorded = (keyId: string): InstallationKeysEvent => ({
  type: "MasterKeyRecorded",
  data: { keyId, at },
});
const fold = (...events: InstallationKeysEvent[]) =>
  events.reduce(masterKeyDecider.evolve, masterKeyDecider.initial());

describe("the master key recorded in the log", () => {
  it("is the key of the first instance", () => {
    expect(recognizeMasterKey(fold(), ["a", "b"], at)).to.deep.equal([recorded("a")]);
  });

  it("allows an instance to start that has it as its current or a previous key", () => {
    expect(recognizeMasterKey(fold(recorded("a")), ["a"], at)).to.deep.equal([]);
    expect(recognizeMasterKey(fold(recorded("a")), ["b", "c", "a"], at)).to.deep.equal([]);
  });

  it("prevents an instance without it from starting, with both key ids in the error", () => {
    expect(() => recognizeMasterKey(fold(recorded("a")), ["b", "c"], at)).to.throw(
      UnknownMasterKey,
      /this key is b, the log's is a:/,
    );
  });

  it("is replaced when all credentials are encrypted under another key", () => {
    const events = [recorded("a"), ...replaceMasterKey({ masterKeyId: "a" }, "b", at)];
    expect(events).to.deep.equal([recorded("a"), recorded("b")]);
    expect(replaceMasterKey({ masterKeyId: "b" }, "b", at)).to.deep.equal([]);
    expect(recognizeMasterKey(fold(...events), ["b"], at)).to.deep.equal([]);
    expect(() => recognizeMasterKey(fold(...events), ["a"], at)).to.throw(UnknownMasterKey);
  });
});

describe("the naming key in the log", () => {
  const key = (ciphertext: string, keyId = "a") => ({ ciphertext, keyId, at });
  const created: InstallationKeysEvent = { type: "NamingKeyCreated", data: key("v1.one") };

  it("is created once, whatever master keys are recorded before and after it", () => {
    expect(createNamingKey(fold(recorded("a")), key("v1.one"))).to.deep.equal([created]);
    expect(createNamingKey(fold(recorded("a"), created, recorded("b")), key("v1.two"))).to.deep.equal([]);
  });

  it("is encrypted again unless another process did so in the meantime", () => {
    const renewed = { was: "v1.one", ...key("v1.again", "b") };
    const again = reencryptNamingKey(fold(created), renewed);
    expect(again).to.deep.equal([{ type: "NamingKeyReencrypted", data: key("v1.again", "b") }]);
    expect(fold(created, ...again).namingKey).to.deep.equal({
      ...{ ciphertext: "v1.again", keyId: "b", createdAt: at },
    });
    expect(reencryptNamingKey(fold(created, ...again), renewed)).to.deep.equal([]);
  });

  it("is replaced by a later one, so that an installation can begin a new one", () => {
    const next: InstallationKeysEvent = { type: "NamingKeyCreated", data: key("v1.next", "b") };
    expect(fold(recorded("a"), created, recorded("b"), next)).to.deep.equal({
      masterKeyId: "b",
      namingKey: { ciphertext: "v1.next", keyId: "b", createdAt: at },
    });
  });
});
