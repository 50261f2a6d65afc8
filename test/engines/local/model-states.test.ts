import { expect } from "chai";
import { EngineFailed } from "../../../src/domain/errors.ts";
import { createModelStates } from "../../../src/engines/local/model-states.ts";
import { ToolFailed } from "../../../src/subprocess/tools.ts";
import { createManualTime } from "../../support/manual-time.ts";

const crash = new ToolFailed("exit", "The model anna failed.");

describe("The state of a model", () => {
  const open = () => {
    const warnings: string[] = [];
    const time = createManualTime();
    const states = createModelStates({ warn: (sentence) => warnings.push(sentence), time });
    const fail = (error: unknown): void => states.start("anna").failed(error);
    return { states, time, warnings, fail };
  };

  it("names the last failure until the model works again", () => {
    const { states, fail, warnings } = open();
    fail(crash);
    fail(crash);
    expect(states.failures()).to.deep.equal(["anna: The model anna failed."]);
    expect(warnings).to.deep.equal(["The model anna failed: The model anna failed."]);
    states.start("anna").succeeded();
    expect(states.failures()).to.deep.equal([]);
  });

  it("refuses uses for 15 seconds after three failures in a row, then lets one through", () => {
    const { states, time, fail } = open();
    for (let round = 0; round < 3; round++) fail(crash);
    expect(() => states.start("anna")).to.throw(EngineFailed, "The model anna is not used for a while");
    states.start("otto").succeeded();
    time.advance(15_000);
    states.start("anna").succeeded();
    states.start("anna").succeeded();
  });

  it("ignores callers that leave and failures of the helper process", () => {
    const { states, fail } = open();
    const others = [
      new Error("the caller left"),
      new ToolFailed("abandoned", "x"),
      new ToolFailed("helper", "x"),
    ];
    for (const error of [...others, ...others]) fail(error);
    states.start("anna").ignored();
    expect(states.failures()).to.deep.equal([]);
    states.start("anna").succeeded();
  });
});
