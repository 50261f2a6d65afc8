import { z } from "zod";
import type { View } from "../../../projections/runner/view.ts";
import { findWebsite } from "../../../projections/websites.ts";
import {
  issueVerification,
  origin as originSchema,
  unknownVerification,
  verifyOrigin,
  type Website,
  websiteDecider,
  websiteStream,
} from "../../domain/accounts/website.ts";
import type { EpochMs } from "../../domain/time.ts";
import { hashSecret, matchingSecret } from "../access/secrets.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { newVerificationToken, type Random, websiteIdOfVerification } from "./identifiers.ts";

/**
 * A single-use token that verifies one origin. It is returned once and not stored. Times are ISO
 * 8601, UTC.
 */
export interface NewVerification {
  readonly token: string;
  readonly origin: string;
  readonly expiresAt: string;
}

/** `verified` is false for a token that was used, has expired or was issued for another origin. */
export interface VerificationOutcome {
  readonly verified: boolean;
  readonly origin: string;
}

/** The body of a request for a token: `{origin}`. */
export const verificationRequest = z.strictObject({ origin: originSchema });

const verificationMinutes = 15;

export type OriginVerification = ReturnType<typeof createOriginVerification>;

/** Verification of a website's origins. Each method may throw {Unavailable}. */
export const createOriginVerification = ({
  execute,
  websites,
  clock,
  random,
}: {
  execute: ExecuteCommand;
  websites: View<Website>;
  clock: () => EpochMs;
  random: Random;
}) => ({
  /**
   * @throws {NotFound} for an unknown website
   * @throws {Conflict} when too many are in progress
   */
  issue: async (websiteId: string, origin: string, context: CommandContext): Promise<NewVerification> => {
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
  /**
   * True if the view has the token, pending or not. Refusing any other token costs a read of the
   * store.
   */
  isKnown: (token: string): boolean => {
    const website = findWebsite(websites, websiteIdOfVerification(token) ?? "");
    return website !== undefined && matchingSecret(token, website.verifications) !== undefined;
  },
  /**
   * Consumes the token and adds the origin to the website. Of several concurrent calls, one
   * succeeds.
   * @throws {Unauthorized} for an unknown token
   */
  verify: async (
    { token, origin }: { token: string; origin: string },
    requestId: string,
  ): Promise<VerificationOutcome> => {
    const websiteId = websiteIdOfVerification(token);
    if (websiteId === undefined) throw unknownVerification();
    const presented = { hash: hashSecret(token), origin };
    let verified = false;
    await execute(
      websiteDecider,
      websiteStream(websiteId),
      (website) => {
        const events = verifyOrigin(website, { ...presented, at: new Date(clock()).toISOString() });
        verified = events.length > 0; // after a conflict the last decision is the one that counts
        return events;
      },
      { actor: "system", requestId },
    );
    return { verified, origin };
  },
});
