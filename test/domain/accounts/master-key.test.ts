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

describe("the master key of a log", () => {
  it("is that of the first instance", () => {
    expect(recognizeMasterKey(fold(), ["a", "b"], at)).to.deep.equal([recorded("a")]);
  });

  it("lets an instance start that has it, as its current key or as a previous one", () => {
    expect(recognizeMasterKey(fold(recorded("a")), ["a"], at)).to.deep.equal([]);
    expect(recognizeMasterKey(fold(recorded("a")), ["b", "c", "a"], at)).to.deep.equal([]);
  });

  it("refuses an instance that does not have it, naming both ids", () => {
    expect(() => recognizeMasterKey(fold(recorded("a")), ["b", "c"], at)).to.throw(
      UnknownMasterKey,
      /this key is b, the log's is a:/,
    );
  });

  it("is replaced when all credentials are sealed under another one", () => {
    const events = [recorded("a"), ...replaceMasterKey("a", "b", at)];
    expect(events).to.deep.equal([recorded("a"), recorded("b")]);
    expect(replaceMasterKey("b", "b", at)).to.deep.equal([]);
    expect(recognizeMasterKey(fold(...events), ["b"], at)).to.deep.equal([]);
    expect(() => recognizeMasterKey(fold(...events), ["a"], at)).to.throw(UnknownMasterKey);
  });
});
