import { expect } from "chai";
import { freePlan, planOf } from "../../../src/domain/accounts/plan.ts";
import { planRequest } from "../../../src/domain/accounts/plan-request.ts";
import { Invalid } from "../../../src/domain/errors.ts";
import { parse } from "../../../src/domain/validation.ts";

const problemsOf = (value: unknown) => {
  try {
    parse(planRequest, value);
  } catch (error) {
    return (error as Invalid).problems;
  }
  return expect.fail("accepted");
};

describe("a plan", () => {
  it("of tier free has 100 requests a minute and 1,000,000 characters a month", () => {
    expect(parse(planRequest, { tier: "free" })).to.deep.equal({
      tier: "free",
      requestsPerMinute: 100,
      monthlyCharacters: 1_000_000,
    });
  });

  it("of tier commercial has 1,000 requests a minute and no monthly limit", () => {
    expect(parse(planRequest, { tier: "commercial" })).to.deep.equal({
      tier: "commercial",
      requestsPerMinute: 1_000,
      monthlyCharacters: null,
    });
  });

  it("of tier enterprise has the operator's numbers", () => {
    const plan = { tier: "enterprise", requestsPerMinute: 5_000, monthlyCharacters: 20_000_000 };
    expect(parse(planRequest, plan)).to.deep.equal(plan);
  });

  it("of tier enterprise has no monthly limit when that number is null", () => {
    const plan = { tier: "enterprise", requestsPerMinute: 5_000, monthlyCharacters: null };
    expect(parse(planRequest, plan)).to.deep.equal(plan);
  });

  it("of tier enterprise requires both numbers", () => {
    expect(problemsOf({ tier: "enterprise" }).map(({ path }) => path)).to.deep.equal([
      ["requestsPerMinute"],
      ["monthlyCharacters"],
    ]);
  });

  it("can be sent back in the form in which it is presented", () => {
    for (const plan of [freePlan, planOf("commercial")]) expect(parse(planRequest, plan)).to.deep.equal(plan);
  });

  it("of a tier with fixed numbers refuses other numbers", () => {
    const [problem] = problemsOf({ tier: "free", monthlyCharacters: 5_000_000 });
    expect(problem?.path).to.deep.equal(["monthlyCharacters"]);
    expect(problem?.message).to.contain("enterprise");
    expect(problemsOf({ tier: "commercial", requestsPerMinute: 2_000 })[0]?.path).to.deep.equal([
      "requestsPerMinute",
    ]);
    expect(problemsOf({ tier: "commercial", monthlyCharacters: 1 })[0]?.message).to.contain("no limit of");
  });

  it("requires positive integers", () => {
    for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "100", 2 ** 53]) {
      const plan = { tier: "enterprise", requestsPerMinute: 100, monthlyCharacters: 100 };
      expect(() => parse(planRequest, { ...plan, requestsPerMinute: wrong }), `${wrong}`).to.throw(Invalid);
      expect(() => parse(planRequest, { ...plan, monthlyCharacters: wrong }), `${wrong}`).to.throw(Invalid);
    }
  });

  it("requires one of the three tiers and refuses unknown members", () => {
    for (const wrong of [undefined, null, {}, "free", { tier: "gold" }, { tier: "free", price: 0 }]) {
      expect(() => parse(planRequest, wrong)).to.throw(Invalid);
    }
  });
});
