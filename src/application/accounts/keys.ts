import { allKeys, findKey } from "../../../projections/keys.ts";
import type { View } from "../../../projections/runner/runner.ts";
import {
  changePlan,
  createSecret,
  evolveKey,
  type IssuedKey,
  issueKey,
  type Key,
  type KeyEvent,
  keyDecider,
  keyStream,
  reinstateKey,
  requireIssued,
  revokeSecret,
  type SuspensionCause,
  suspendKey,
} from "../../domain/accounts/key.ts";
import type { Plan } from "../../domain/accounts/plan.ts";
import { requireWebsite, websiteDecider, websiteStream } from "../../domain/accounts/website.ts";
import { NotFound } from "../../domain/errors.ts";
import { monthOf, usageStream } from "../../domain/usage/usage.ts";
import { hashSecret } from "../access/secrets.ts";
import type { CommandContext, Execute } from "../commands.ts";
import { newApiKey, newSecret, newSecretId, type Random } from "./identifiers.ts";

/** A key without its secrets. Times are ISO 8601, UTC. */
export interface KeyDetails {
  readonly apiKey: string;
  readonly websiteId: string;
  readonly status: "active" | "suspended";
  readonly suspension?: { readonly cause: SuspensionCause; readonly reason: string; readonly since: string };
  readonly plan: Plan;
  readonly secrets: readonly { readonly secretId: string; readonly createdAt: string }[];
  readonly issuedAt: string;
  /** This month's (UTC) characters and quota; null: no limit. Absent without a view of usage. */
  readonly usage?: { readonly month: string; readonly characters: number; readonly quota: number | null };
}

/** A secret in clear. It is returned once and not stored. */
export interface NewSecret {
  readonly secretId: string;
  readonly apiSecret: string;
}

export interface NewKey extends NewSecret {
  readonly apiKey: string;
  readonly websiteId: string;
  readonly plan: Plan;
}

/** API keys and their secrets. A resolved command is visible on this instance. All may throw {Unavailable}. */
export interface Keys {
  /** A key with its first secret. @throws {NotFound} for an unknown website */
  issue(websiteId: string, plan: Plan, context: CommandContext): Promise<NewKey>;
  /** @throws {NotFound} @throws {Conflict} when the key has the maximum number of secrets */
  createSecret(apiKey: string, context: CommandContext): Promise<NewSecret>;
  /** @throws {NotFound} for an unknown key or a revoked secret */
  revokeSecret(apiKey: string, secretId: string, context: CommandContext): Promise<void>;
  /** @throws {NotFound} */
  changePlan(apiKey: string, plan: Plan, context: CommandContext): Promise<KeyDetails>;
  /** @throws {NotFound} */
  suspend(apiKey: string, reason: string, context: CommandContext): Promise<KeyDetails>;
  /** @throws {NotFound} */
  reinstate(apiKey: string, reason: string, context: CommandContext): Promise<KeyDetails>;
  /** @throws {NotFound} */
  get(apiKey: string): KeyDetails;
  /** All keys, or one website's, the oldest first. */
  list(websiteId?: string): KeyDetails[];
}

export interface KeysOptions {
  readonly execute: Execute;
  readonly keys: View<Key>;
  /** Partitions are the usage streams. */
  readonly quotas?: View<{ readonly used: number }>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly random: Random;
}

export const createKeys = ({ execute, keys, quotas, clock, random }: KeysOptions): Keys => {
  const now = (): string => new Date(clock()).toISOString();

  const details = (key: IssuedKey): KeyDetails => {
    if (!quotas) return describe(key);
    const month = monthOf(now());
    const characters = quotas.get(usageStream(key.apiKey, month))?.used ?? 0;
    return { ...describe(key), usage: { month, characters, quota: key.plan.monthlyCharacters } };
  };

  const newlyMade = () => {
    const apiSecret = newSecret(random);
    return { apiSecret, secretId: newSecretId(random), hash: hashSecret(apiSecret), at: now() };
  };

  const command = async (
    apiKey: string,
    decide: (key: Key) => KeyEvent[],
    context: CommandContext,
  ): Promise<KeyDetails> =>
    details(requireIssued(await execute(keyDecider, keyStream(apiKey), decide, context)));

  return {
    issue: async (websiteId, plan, context) => {
      // Reads the stream, not the view: another instance may have just registered the website.
      await execute(websiteDecider, websiteStream(websiteId), requireWebsite, context);
      const apiKey = newApiKey(random);
      const { apiSecret, ...secret } = newlyMade();
      await command(
        apiKey,
        (key) => {
          const issued = issueKey(key, { apiKey, websiteId, plan, at: secret.at });
          return [...issued, ...createSecret(issued.reduce(evolveKey, key), secret)];
        },
        context,
      );
      return { apiKey, websiteId, plan, secretId: secret.secretId, apiSecret };
    },
    createSecret: async (apiKey, context) => {
      const { apiSecret, ...secret } = newlyMade();
      await command(apiKey, (key) => createSecret(key, secret), context);
      return { secretId: secret.secretId, apiSecret };
    },
    revokeSecret: async (apiKey, secretId, context) => {
      await command(apiKey, (key) => revokeSecret(key, { secretId, at: now() }), context);
    },
    changePlan: (apiKey, plan, context) =>
      command(apiKey, (key) => changePlan(key, { plan, at: now() }), context),
    suspend: (apiKey, reason, context) =>
      command(apiKey, (key) => suspendKey(key, { cause: "operator", reason, at: now() }), context),
    reinstate: (apiKey, reason, context) =>
      command(apiKey, (key) => reinstateKey(key, { reason, at: now() }), context),
    get: (apiKey) => {
      const key = findKey(keys, apiKey);
      if (!key) throw new NotFound("There is no such key.");
      return details(key);
    },
    list: (websiteId) => allKeys(keys, websiteId).map(details),
  };
};

/** Omits the hashes. */
const describe = (key: IssuedKey): Omit<KeyDetails, "usage"> => ({
  apiKey: key.apiKey,
  websiteId: key.websiteId,
  status: key.status,
  ...(key.status === "suspended" && {
    suspension: { cause: key.cause, reason: key.reason, since: key.suspendedAt },
  }),
  plan: key.plan,
  secrets: key.secrets.map(({ secretId, createdAt }) => ({ secretId, createdAt })),
  issuedAt: key.issuedAt,
});
