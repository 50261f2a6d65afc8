import type { Plan } from "../../domain/accounts/plan.ts";

/** Who is asking, once it is proven. */
export interface Principal {
  readonly apiKey: string;
  readonly websiteId: string;
  readonly plan: Plan;
  /** Set while the key is suspended: why. */
  readonly suspension?: string;
  readonly proof: Proof;
  /** Set when an access token told of the proof: how long it is good for. */
  readonly token?: Validity;
}

/**
 * What it was proven by: one of the key's secrets, or an origin of the website's. It holds until the secret is revoked
 * or the origin withdrawn, and so does whatever is minted from it.
 */
export type Proof =
  | { readonly by: "secret"; readonly secretId: string }
  | { readonly by: "origin"; readonly origin: string };

/** In unix seconds. */
export interface Validity {
  readonly issuedAt: number;
  readonly exp: number;
}
