import { allKeys, findKey } from "../../../projections/keys.ts";
import type { View } from "../../../projections/runner/view.ts";
import type { SuspensionCause } from "../../domain/accounts/event-shapes.ts";
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
  suspendKey,
} from "../../domain/accounts/key.ts";
import type { Plan } from "../../domain/accounts/plan.ts";
import {
  refuseErased,
  requireWebsite,
  websiteDecider,
  websiteStream,
} from "../../domain/accounts/website.ts";
import { NotFound } from "../../domain/errors.ts";
import { monthOf } from "../../domain/ledger/month.ts";
import type { EpochMs } from "../../domain/time.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { UsageReader } from "../../ledger/accounts/usage-reader.ts";
import { hashSecret } from "../access/secrets.ts";
import type { CommandTime, UrgentTime } from "../clock/urgent-time.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { newApiKey, newSecret, newSecretId, type Random } from "./identifiers.ts";

/** A key without its secrets. Times are ISO 8601, UTC. */
export interface KeyDetails {
  readonly apiKey: string;
  readonly websiteId: string;
  /** Absent while this instance does not know the website. */
  readonly websiteName?: string;
  readonly status: "active" | "suspended";
  readonly suspension?: { readonly cause: SuspensionCause; readonly reason: string; readonly since: string };
  readonly plan: Plan;
  readonly secrets: readonly { readonly secretId: string; readonly createdAt: string }[];
  readonly issuedAt: string;
  /** Absent in lists, and in commands that do not read it. */
  readonly usage?: KeyUsage;
}

/** The characters of this month (UTC), for all servings up to a position of the log. */
interface KeyUsage {
  readonly month: string;
  readonly characters: number;
  /** If null, there is no limit. */
  readonly quota: number | null;
  readonly asOfPosition: number;
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

/**
 * The service of API keys and their secrets. When a command resolves, its effect is visible on this
 * instance. All methods may throw {Unavailable}.
 */
export interface Keys {
  /**
   * A key with its first secret.
   * @throws {NotFound} for an unknown website
   */
  issue(websiteId: string, plan: Plan, context: CommandContext): Promise<NewKey>;
  /**
   * @throws {NotFound} also if the key's website was erased
   * @throws {Conflict} when the key has the maximum number of secrets
   */
  createSecret(apiKey: string, context: CommandContext): Promise<NewSecret>;
  /** @throws {NotFound} for an unknown key or a revoked secret */
  revokeSecret(apiKey: string, secretId: string, context: CommandContext): Promise<void>;
  /** @throws {NotFound} */
  changePlan(apiKey: string, plan: Plan, context: CommandContext): Promise<KeyDetails>;
  /** @throws {NotFound} */
  suspend(apiKey: string, reason: string, context: CommandContext): Promise<KeyDetails>;
  /** @throws {NotFound} also if the key's website was erased */
  reinstate(apiKey: string, reason: string, context: CommandContext): Promise<KeyDetails>;
  /** @throws {NotFound} */
  get(apiKey: string): Promise<KeyDetails>;
  /** All keys, or one website's, the oldest first, without their usage. */
  list(websiteId?: string): KeyDetails[];
  /** Adds this month's usage to some keys, as of the same position. */
  addUsage(keys: readonly KeyDetails[]): Promise<KeyDetails[]>;
}

/**
 * The usage of some keys in a month (`yyyy-mm`).
 * @throws {EventStoreUnavailable}
 */
type CountUsage = UsageReader["countsOf"];

interface KeysOptions {
  readonly execute: ExecuteCommand;
  readonly keys: View<Key>;
  readonly websiteName: (websiteId: string) => string | undefined;
  /** Counts the usage of keys. If absent, keys are described without their usage. */
  readonly countUsage?: CountUsage;
  /**
   * Counts against a new quota the characters that the key used earlier in the month, while it had
   * no quota.
   * @throws {Unavailable}
   */
  readonly carryOverUsage: (apiKey: string, month: string) => Promise<void>;
  readonly clock: () => EpochMs;
  /** The time of suspensions and revocations. Default: `clock`. */
  readonly urgentTime?: UrgentTime;
  readonly random: Random;
}

export const createKeys = (options: KeysOptions): Keys => {
  const { execute, carryOverUsage, clock, random } = options;
  const reader = createKeyReader(options);
  const now = (): string => new Date(clock()).toISOString();
  const urgentTime = options.urgentTime ?? (async (): Promise<CommandTime> => ({ at: now() }));
  const generateSecret = () => secretFrom(random, now());

  const command = async (
    apiKey: string,
    decide: (key: Key) => KeyEvent[],
    context: CommandContext,
  ): Promise<IssuedKey> => requireIssued(await execute(keyDecider, keyStream(apiKey), decide, context));

  /** The key of an erased website has ended for good. */
  const refuseEnded = async (apiKey: string, context: CommandContext): Promise<void> => {
    const { websiteId } = await command(apiKey, () => [], context);
    await execute(websiteDecider, websiteStream(websiteId), refuseErased, context);
  };

  return {
    issue: async (websiteId, plan, context) => {
      // This reads the stream, not the view, because another instance may have just registered the
      // website.
      await execute(websiteDecider, websiteStream(websiteId), requireWebsite, context);
      const apiKey = newApiKey(random);
      const { apiSecret, ...secret } = generateSecret();
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
      await refuseEnded(apiKey, context);
      const { apiSecret, ...secret } = generateSecret();
      await command(apiKey, (key) => createSecret(key, secret), context);
      return { secretId: secret.secretId, apiSecret };
    },
    revokeSecret: async (apiKey, secretId, context) => {
      const { at, ...note } = await urgentTime();
      await command(apiKey, (key) => revokeSecret(key, { secretId, at }), { ...context, ...note });
    },
    changePlan: async (apiKey, plan, context) => {
      const decide = (key: Key) => changePlan(key, { plan, at: now() });
      // This runs before the change, and once more after it for characters that were spent in
      // between.
      const carryOver = async () => {
        if (plan.monthlyCharacters !== null) await carryOverUsage(apiKey, monthOf(now()));
      };
      await carryOver();
      const changed = await command(apiKey, decide, context);
      await carryOver();
      return await reader.details(changed);
    },
    suspend: async (apiKey, reason, context) => {
      const { at, ...note } = await urgentTime();
      const decide = (key: Key) => suspendKey(key, { cause: "operator", reason, at });
      return await reader.details(await command(apiKey, decide, { ...context, ...note }));
    },
    reinstate: async (apiKey, reason, context) => {
      await refuseEnded(apiKey, context);
      const decide = (key: Key) => reinstateKey(key, { reason, at: now() });
      return await reader.details(await command(apiKey, decide, context));
    },
    get: reader.get,
    list: reader.list,
    addUsage: reader.addUsage,
  };
};

const secretFrom = (random: Random, at: string) => {
  const apiSecret = newSecret(random);
  return { apiSecret, secretId: newSecretId(random), hash: hashSecret(apiSecret), at };
};

const createKeyReader = ({
  keys,
  websiteName,
  countUsage,
  clock,
}: Pick<KeysOptions, "keys" | "websiteName" | "countUsage" | "clock">) => {
  const describe = (key: IssuedKey) => describeKey(key, websiteName(key.websiteId));

  const addUsage = async (some: readonly KeyDetails[]): Promise<KeyDetails[]> => {
    if (!countUsage) return [...some];
    const month = monthOf(new Date(clock()).toISOString());
    const apiKeys = some.map(({ apiKey }) => apiKey);
    const { asOfPosition, counts } = await countUsage(apiKeys, month).catch(throwUnavailable);
    return some.map((key) => {
      const characters = counts.get(key.apiKey)?.characters ?? 0;
      return { ...key, usage: { month, characters, quota: key.plan.monthlyCharacters, asOfPosition } };
    });
  };

  const details = async (key: IssuedKey): Promise<KeyDetails> => {
    const [described] = await addUsage([describe(key)]);
    return described as KeyDetails;
  };

  return {
    addUsage,
    details,
    get: async (apiKey: string): Promise<KeyDetails> => {
      const key = findKey(keys, apiKey);
      if (!key) throw new NotFound("There is no such key.");
      return await details(key);
    },
    list: (websiteId?: string): KeyDetails[] => allKeys(keys, websiteId).map(describe),
  };
};

/** Describes a key without the hashes of its secrets. */
const describeKey = (key: IssuedKey, websiteName: string | undefined): Omit<KeyDetails, "usage"> => ({
  apiKey: key.apiKey,
  websiteId: key.websiteId,
  ...(websiteName !== undefined && { websiteName }),
  status: key.status,
  ...(key.status === "suspended" && {
    suspension: { cause: key.cause, reason: key.reason, since: key.suspendedAt },
  }),
  plan: key.plan,
  secrets: key.secrets.map(({ secretId, createdAt }) => ({ secretId, createdAt })),
  issuedAt: key.issuedAt,
});
