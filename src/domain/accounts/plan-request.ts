import { z } from "zod";
import { customTiers, fixedTiers, freePlan, type Plan, planOf, type Tier } from "./plan.ts";

const requestsPerMinute = z.int().min(1).max(1_000_000);
const monthlyCharacters = z.int().min(1).nullable();

/** The tier's limits may be repeated unchanged, so that a returned plan can be sent back. */
const fixed = (plan: Plan) => {
  const own = <T extends number | null>(value: T, name: string) =>
    z.literal(value, {
      error: `The ${plan.tier} tier has ${value ?? "no limit of"} ${name}; ${customTiers.join(" or ")} sets its own.`,
    });
  return z
    .strictObject({
      tier: z.literal(plan.tier),
      requestsPerMinute: own(plan.requestsPerMinute, "requests per minute").optional(),
      monthlyCharacters: own(plan.monthlyCharacters, "monthly characters").optional(),
    })
    .transform((): Plan => plan);
};

const custom = (tier: Tier) =>
  z.strictObject({ tier: z.literal(tier), requestsPerMinute, monthlyCharacters });

/** A plan in a request: `{tier}` for a tier with fixed limits; any other tier needs both limits. */
export const planRequest = z.discriminatedUnion("tier", [
  fixed(freePlan),
  ...fixedTiers.filter((tier) => tier !== "free").map((tier) => fixed(planOf(tier))),
  ...customTiers.map(custom),
]);

/** A plan within another request: an object or the name of a tier. Default: free. */
export const planOrTier = z
  .preprocess((value) => (typeof value === "string" ? { tier: value } : value), planRequest)
  .default(freePlan)
  .meta({ id: "PlanOrTier" });
