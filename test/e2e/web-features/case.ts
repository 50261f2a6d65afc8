import type { FeatureSite } from "../../support/client-library/feature-page.ts";

/**
 * A test of members of the WebsiteConfig, named by their paths; `=` names a value of an
 * enumeration.
 */
export interface MemberCase {
  readonly members: readonly string[];
  /** What the members do. */
  readonly does: string;
  run(site: FeatureSite): Promise<void>;
}

/** Members of one object. */
export const under = (path: string, ...names: string[]): string[] => names.map((name) => `${path}${name}`);
