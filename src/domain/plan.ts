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
