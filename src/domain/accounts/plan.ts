import { z } from "zod";

/** What a key may use. */

export const tiers = ["free", "commercial", "enterprise"] as const;
export type Tier = (typeof tiers)[number];

export interface Plan {
  readonly tier: Tier;
  readonly requestsPerMinute: number;
  /** Code points in a calendar month (UTC); null: no limit. */
  readonly monthlyCharacters: number | null;
}

export const freePlan: Plan = { tier: "free", requestsPerMinute: 100, monthlyCharacters: 1_000_000 };
export const commercialPlan: Plan = { tier: "commercial", requestsPerMinute: 1_000, monthlyCharacters: null };

const requestsPerMinute = z.int().min(1).max(1_000_000);
const monthlyCharacters = z.int().min(1).nullable();

/** The tier's numbers may be repeated (a plan that was shown can be sent back), not changed. */
const fixed = (plan: Plan) => {
  const own = <T extends number | null>(value: T, name: string) =>
    z.literal(value, {
      error: `The ${plan.tier} tier has ${value ?? "no limit of"} ${name}; enterprise sets its own.`,
    });
  return z
    .strictObject({
      tier: z.literal(plan.tier),
      requestsPerMinute: own(plan.requestsPerMinute, "requests per minute").optional(),
      monthlyCharacters: own(plan.monthlyCharacters, "monthly characters").optional(),
    })
    .transform((): Plan => plan);
};

/** A plan as an operator gives it: `{tier}` for a tier with numbers of its own, both numbers with `enterprise`. */
export const planRequest = z.discriminatedUnion("tier", [
  fixed(freePlan),
  fixed(commercialPlan),
  z.strictObject({ tier: z.literal("enterprise"), requestsPerMinute, monthlyCharacters }),
]);

/** A plan on the way in with something else: also by the name of its tier alone; free when there is none. */
export const planOrTier = z
  .preprocess((value) => (typeof value === "string" ? { tier: value } : value), planRequest)
  .default(freePlan)
  .meta({ id: "PlanOrTier" });
