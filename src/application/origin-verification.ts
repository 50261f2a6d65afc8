import { z } from "zod";
import {
  issueVerification,
  origin as originSchema,
  verifyOrigin,
  websiteDecider,
  websiteStream,
  wrongVerification,
} from "../domain/website.ts";
import type { CommandContext, Execute } from "./commands.ts";
import { newVerificationToken, type Random, websiteOfVerification } from "./identifiers.ts";
import { hashSecret } from "./secrets.ts";

/** A token that proves one origin, once. It is told this once and nowhere kept. Times are ISO 8601, UTC. */
export interface NewVerification {
  readonly token: string;
  readonly origin: string;
  readonly expiresAt: string;
}

export interface VerifiedOrigin {
  readonly verified: true;
  readonly origin: string;
}

/** What an operator issues a token for: `{origin}`. */
export const verificationRequest = z.strictObject({ origin: originSchema });

/** How a website's pages come to prove that they are its own. Both may throw {Unavailable}. */
export interface OriginVerification {
  /** @throws {NotFound} for an unknown website @throws {Conflict} when too many are under way */
  issue(websiteId: string, origin: string, context: CommandContext): Promise<NewVerification>;
  /**
   * Uses the token up: from here on the origin is the website's. Of several that present it at once, one succeeds.
   * @throws {Unauthorized} for whatever is wrong with either
   */
  verify(presented: { token: string; origin: string }, requestId: string): Promise<VerifiedOrigin>;
}

const verificationMinutes = 15;

export const createOriginVerification = ({
  execute,
  clock,
  random,
}: {
  execute: Execute;
  /** Milliseconds since the epoch. */
  clock: () => number;
  random: Random;
}): OriginVerification => ({
  issue: async (websiteId, origin, context) => {
    const token = newVerificationToken(random, websiteId);
    const now = clock();
    const issued = {
      hash: hashSecret(token),
      origin,
      expiresAt: new Date(now + verificationMinutes * 60_000).toISOString(),
      at: new Date(now).toISOString(),
    };
    await execute(
      websiteDecider,
      websiteStream(websiteId),
      (website) => issueVerification(website, issued),
      context,
    );
    return { token, origin, expiresAt: issued.expiresAt };
  },
  verify: async ({ token, origin }, requestId) => {
    const websiteId = websiteOfVerification(token);
    if (websiteId === undefined) throw wrongVerification();
    const presented = { hash: hashSecret(token), origin };
    await execute(
      websiteDecider,
      websiteStream(websiteId),
      (website) => verifyOrigin(website, { ...presented, at: new Date(clock()).toISOString() }),
      { actor: "system", requestId },
    );
    return { verified: true, origin };
  },
});
