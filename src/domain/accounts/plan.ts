/* Browsers load this file: it imports nothing. Requests with plans are in plan-request.ts. */

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
export const isFixed = (tier: Tier): tier is FixedTier => limitsOfTiers[tier] !== null;
export const fixedTiers = tiers.filter(isFixed);
export const customTiers = tiers.filter((tier) => !isFixed(tier));

export interface Plan extends Limits {
  readonly tier: Tier;
}

export const planOf = (tier: FixedTier): Plan => ({ tier, ...limitsOfTiers[tier] });
export const freePlan = planOf("free");
