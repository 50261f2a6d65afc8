import { z } from "zod";

/** The limits of a key. */

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

/** The tier's limits may be repeated, so that a returned plan can be sent back, but not changed. */
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

/** A plan in a request: `{tier}` for a tier with fixed limits; `enterprise` needs both limits. */
export const planRequest = z.discriminatedUnion("tier", [
  fixed(freePlan),
  fixed(commercialPlan),
  z.strictObject({ tier: z.literal("enterprise"), requestsPerMinute, monthlyCharacters }),
]);

/** A plan within another request: an object or the name of a tier. Default: free. */
export const planOrTier = z
  .preprocess((value) => (typeof value === "string" ? { tier: value } : value), planRequest)
  .default(freePlan)
  .meta({ id: "PlanOrTier" });
