import { expect } from "chai";
import {
  type MasterKeyRecorded,
  masterKeyDecider,
  recognizeMasterKey,
  replaceMasterKey,
  UnknownMasterKey,
} from "../../../src/domain/accounts/master-key.ts";

const at = "2026-11-05T10:00:00.000Z";
const recorded = (keyId: string): MasterKeyRecorded => ({ type: "MasterKeyRecorded", data: { keyId, at } });
const fold = (...events: MasterKeyRecorded[]) =>
  events.reduce<string | undefined>(masterKeyDecider.evolve, masterKeyDecider.initial());

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
    const events = [recorded("a"), ...replaceMasterKey("a", "b", at)];
    expect(events).to.deep.equal([recorded("a"), recorded("b")]);
    expect(replaceMasterKey("b", "b", at)).to.deep.equal([]);
    expect(recognizeMasterKey(fold(...events), ["b"], at)).to.deep.equal([]);
    expect(() => recognizeMasterKey(fold(...events), ["a"], at)).to.throw(UnknownMasterKey);
  });
});
