import { expect } from "chai";
import { commercialPlan, freePlan, planRequest } from "../../../src/domain/accounts/plan.ts";
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
  it("free: 100 requests a minute, 1,000,000 characters a month", () => {
    expect(parse(planRequest, { tier: "free" })).to.deep.equal({
      tier: "free",
      requestsPerMinute: 100,
      monthlyCharacters: 1_000_000,
    });
  });

  it("commercial: 1,000 requests a minute, no monthly limit", () => {
    expect(parse(planRequest, { tier: "commercial" })).to.deep.equal({
      tier: "commercial",
      requestsPerMinute: 1_000,
      monthlyCharacters: null,
    });
  });

  it("enterprise: both numbers are the operator's", () => {
    const plan = { tier: "enterprise", requestsPerMinute: 5_000, monthlyCharacters: 20_000_000 };
    expect(parse(planRequest, plan)).to.deep.equal(plan);
  });

  it("enterprise: null is no monthly limit", () => {
    const plan = { tier: "enterprise", requestsPerMinute: 5_000, monthlyCharacters: null };
    expect(parse(planRequest, plan)).to.deep.equal(plan);
  });

  it("enterprise: neither number may be left out", () => {
    expect(problemsOf({ tier: "enterprise" }).map(({ path }) => path)).to.deep.equal([
      ["requestsPerMinute"],
      ["monthlyCharacters"],
    ]);
  });

  it("that was shown can be sent back", () => {
    for (const plan of [freePlan, commercialPlan]) expect(parse(planRequest, plan)).to.deep.equal(plan);
  });

  it("of a tier with numbers of its own takes no others", () => {
    const [problem] = problemsOf({ tier: "free", monthlyCharacters: 5_000_000 });
    expect(problem?.path).to.deep.equal(["monthlyCharacters"]);
    expect(problem?.message).to.contain("enterprise");
    expect(problemsOf({ tier: "commercial", requestsPerMinute: 2_000 })[0]?.path).to.deep.equal([
      "requestsPerMinute",
    ]);
    expect(problemsOf({ tier: "commercial", monthlyCharacters: 1 })[0]?.message).to.contain("no limit of");
  });

  it("has whole, positive numbers", () => {
    for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "100", 2 ** 53]) {
      const plan = { tier: "enterprise", requestsPerMinute: 100, monthlyCharacters: 100 };
      expect(() => parse(planRequest, { ...plan, requestsPerMinute: wrong }), `${wrong}`).to.throw(Invalid);
      expect(() => parse(planRequest, { ...plan, monthlyCharacters: wrong }), `${wrong}`).to.throw(Invalid);
    }
  });

  it("is of one of the three tiers and has no other members", () => {
    for (const wrong of [undefined, null, {}, "free", { tier: "gold" }, { tier: "free", price: 0 }]) {
      expect(() => parse(planRequest, wrong)).to.throw(Invalid);
    }
  });
});
