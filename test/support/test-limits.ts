import { createLimits, type LimitSettings, type Limits } from "../../src/limits/limits.ts";
import type { OpenShares } from "../../src/limits/shares.ts";
import { readSettings } from "../../src/settings/read-settings.ts";

/** Limits with the default settings, except for the given ones. */
export const testLimits = (
  settings: Partial<LimitSettings> = {},
  clock: () => number = () => 0,
  openShares?: OpenShares,
): Limits => createLimits({ ...readSettings({}).limits, ...settings }, clock, openShares);
