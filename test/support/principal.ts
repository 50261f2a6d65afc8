import type { Principal } from "../../src/application/access/principal.ts";
import { keyNumberOf } from "../../src/domain/accounts/key-numbers.ts";
import type { Plan } from "../../src/domain/accounts/plan.ts";

interface Options {
  readonly apiKey?: string;
  readonly websiteId?: string;
  readonly plan?: Plan;
  readonly monthlyCharacters?: number | null;
}

/** A caller that was authenticated by a secret. By default, the key has no quota. */
export const testPrincipal = ({
  apiKey = "k",
  websiteId = "w",
  monthlyCharacters = null,
  plan = { tier: "enterprise", requestsPerMinute: 1_000, monthlyCharacters },
}: Options = {}): Principal => ({
  apiKey,
  keyNumber: keyNumberOf(apiKey),
  websiteId,
  plan,
  proof: { by: "secret", secretId: "s" },
});
