import { expect } from "chai";
import { actingKey } from "../../../src/application/access/principal.ts";
import type { IssuedKey } from "../../../src/domain/accounts/key.ts";
import type { Plan } from "../../../src/domain/accounts/plan.ts";

const enterprise = (requestsPerMinute: number, monthlyCharacters: number | null): Plan => ({
  tier: "enterprise",
  requestsPerMinute,
  monthlyCharacters,
});
const planOf = (plan: Plan): Plan => actingKey({ status: "active", apiKey: "k", plan } as IssuedKey).plan;

describe("the plan of a principal", () => {
  it("is its key's, and the same object for keys with equal plans", () => {
    const plans = [enterprise(10, null), enterprise(10, 5), enterprise(20, 5)];
    expect(plans.map(planOf)).to.deep.equal(plans);
    expect(planOf(enterprise(10, 5))).to.equal(planOf(enterprise(10, 5)));
  });
});
