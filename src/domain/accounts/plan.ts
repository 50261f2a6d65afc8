import { z } from "zod";

/** The limits of a key. */

interface Limits {
  readonly requestsPerMinute: number;
  /** Code points in a calendar month (UTC); null: no limit. */
  readonly monthlyCharacters: number | null;
}

/** The list of tiers. `null`: each key of the tier has limits of its own. */
const limitsOfTiers = {
  free: { requestsPerMinute: 100, monthlyCharacters: 1_000_000 },
  commercial: { requestsPerMinute: 1_000, monthlyCharacters: null },
  enterprise: null,
} as const satisfies Readonly<Record<string, Limits | null>>;

export type Tier = keyof typeof limitsOfTiers;
type FixedTier = {
  [T in Tier]: (typeof limitsOfTiers)[T] extends null ? never : T;
}[Tier];

export const tiers = Object.keys(limitsOfTiers) as Tier[];
const isFixed = (tier: Tier): tier is FixedTier => limitsOfTiers[tier] !== null;
export const fixedTiers = tiers.filter(isFixed);
export const customTiers = tiers.filter((tier) => !isFixed(tier));

export interface Plan extends Limits {
  readonly tier: Tier;
}

const planOf = (tier: FixedTier): Plan => ({ tier, ...limitsOfTiers[tier] });
export const freePlan = planOf("free");
export const commercialPlan = planOf("commercial");

const requestsPerMinute = z.int().min(1).max(1_000_000);
const monthlyCharacters = z.int().min(1).nullable();

/** The tier's limits may be repeated, so that a returned plan can be sent back, but not changed. */
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
