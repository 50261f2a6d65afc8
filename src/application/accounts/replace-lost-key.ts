import type { View } from "../../../projections/runner/view.ts";
import { allWebhooks } from "../../../projections/webhooks.ts";
import { sleep } from "../../async/sleep.ts";
import type { Time } from "../../async/time.ts";
import {
  type Credentials,
  credentialsDecider,
  credentialsStream,
  dropCredentials,
  websiteOfCredentials,
} from "../../domain/accounts/credentials.ts";
import type { Encrypted } from "../../domain/accounts/event-shapes.ts";
import {
  type InstallationKeys,
  type InstallationKeysEvent,
  masterKeyDecider,
  masterKeyStream,
  replaceLostMasterKey,
  reportLoss,
  requireLost,
} from "../../domain/accounts/master-key.ts";
import { type ByokEngine, byokEngines } from "../../domain/synthesis/byok-providers.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  removeWebhook,
  type Webhook,
  type Webhooks,
  webhookOf,
  webhooksDecider,
  webhooksStream,
} from "../../domain/webhooks/webhooks.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { type CredentialsCipher, DecryptionFailed, type SecretOwner } from "./credentials-cipher.ts";
import type { DataKeys } from "./data-keys.ts";
import type { Random } from "./identifiers.ts";
import { encryptNewNamingKey, namingKeyOwner } from "./naming-key.ts";

/** The replacement of a lost master key. Lists what this run has removed, not earlier ones. */
export interface ReplacedMasterKey {
  readonly lostKeyId: string;
  readonly keyId: string;
  /** True if audio has other names since the replacement. */
  readonly hasNewNamingKey: boolean;
  readonly removedCredentials: readonly {
    readonly websiteId: string;
    readonly engine: ByokEngine;
  }[];
  readonly removedWebhooks: readonly { readonly webhookId: string; readonly url: string }[];
  /** The ids of websites whose names and origins are lost, and must be set again. */
  readonly lostNames: readonly string[];
}

interface ReplaceLostKeyOptions {
  readonly execute: ExecuteCommand;
  readonly credentials: View<Credentials>;
  readonly webhooks: View<Webhooks>;
  readonly dataKeys: Pick<DataKeys, "replaceUnopened">;
  /** The ids of the master keys that exist before the command, beginning with the current one. */
  readonly keyIds: readonly string[];
  /** Creates the new master key unless it exists. Called when nobody has objected to the loss. */
  readonly obtainCipher: () => Promise<CredentialsCipher>;
  readonly random: Random;
  readonly clock: () => EpochMs;
  readonly time: Time;
  /** Running instances that have the key can object for this time. Default: 10,000. */
  readonly objectionMs?: number;
}

const pollMs = 250;

/**
 * Replaces the recorded master key, which is lost, and removes what only that key decrypts. A run
 * that was interrupted can be repeated.
 * @throws {LossRefused} if the key is not lost
 * @throws {Unavailable}
 */
export const replaceLostKey = async (
  options: ReplaceLostKeyOptions,
  reason: string,
  context: CommandContext,
): Promise<ReplacedMasterKey> => {
  const { execute, keyIds, clock } = options;
  const command = (decide: (keys: InstallationKeys) => InstallationKeysEvent[] = () => []) =>
    execute(masterKeyDecider, masterKeyStream, decide, context);
  const now = (): string => new Date(clock()).toISOString();

  const replace = async (): Promise<InstallationKeys> => {
    const reportId = uuidv7(clock());
    await command((keys) => reportLoss(keys, { reportId, keyIds, at: now() }));
    await untilLost(options, async () => requireLost(await command(), reportId));
    const cipher = await options.obtainCipher();
    const { keyId } = cipher;
    const created = encryptNewNamingKey(cipher, options.random);
    return await command((keys) => {
      const namingKey = canOpen(cipher, keys.namingKey, namingKeyOwner) ? undefined : created;
      return replaceLostMasterKey(keys, { reportId, keyId, reason, at: now(), namingKey });
    });
  };

  const before = await command();
  const isReplaced = before.replaced !== undefined && before.masterKeyId === keyIds[0];
  const { replaced, masterKeyId = "", namingKey } = isReplaced ? before : await replace();
  const cipher = await options.obtainCipher();
  return {
    lostKeyId: replaced?.lostKeyId ?? "",
    keyId: masterKeyId,
    hasNewNamingKey: namingKey !== undefined && namingKey.createdAt === replaced?.at,
    removedCredentials: await removeCredentials(options, cipher, now, context),
    removedWebhooks: await removeWebhooks(options, cipher, now, context),
    lostNames: await options.dataKeys.replaceUnopened(context),
  };
};

/** Resolves if no instance objects in time. */
const untilLost = async (
  { time, objectionMs = 10_000 }: Pick<ReplaceLostKeyOptions, "time" | "objectionMs">,
  check: () => Promise<unknown>,
): Promise<void> => {
  const end = time.now() + objectionMs;
  for (let left = objectionMs; left > 0; left = end - time.now()) {
    await check();
    await sleep(Math.min(left, pollMs), { time });
  }
};

const canOpen = (cipher: CredentialsCipher, secret: Encrypted | undefined, owner: SecretOwner): boolean => {
  try {
    if (secret) cipher.decrypt(secret, owner);
    return true;
  } catch (error) {
    if (error instanceof DecryptionFailed) return false;
    throw error;
  }
};

const removeCredentials = async (
  { execute, credentials }: ReplaceLostKeyOptions,
  cipher: CredentialsCipher,
  now: () => string,
  context: CommandContext,
): Promise<ReplacedMasterKey["removedCredentials"]> => {
  const removed: ReplacedMasterKey["removedCredentials"][number][] = [];
  for (const [stream, { byEngine }] of credentials.entries()) {
    const websiteId = websiteOfCredentials(stream);
    for (const engine of byokEngines) {
      const set = byEngine[engine];
      if (!set || canOpen(cipher, set, { websiteId, engine })) continue;
      const dropped = { engine, was: set.ciphertext, at: now() };
      await execute(
        credentialsDecider,
        credentialsStream(websiteId),
        (state) => dropCredentials(state, dropped),
        context,
      );
      removed.push({ websiteId, engine });
    }
  }
  return removed;
};

const removeWebhooks = async (
  { execute, webhooks }: ReplaceLostKeyOptions,
  cipher: CredentialsCipher,
  now: () => string,
  context: CommandContext,
): Promise<ReplacedMasterKey["removedWebhooks"]> => {
  // A former secret that is lost only no longer signs messages, for what is left of its day.
  const isLost = ({ webhookId, secret }: Webhook): boolean => !canOpen(cipher, secret, { webhookId });
  const removed: ReplacedMasterKey["removedWebhooks"][number][] = [];
  for (const { webhookId, url } of Object.values(allWebhooks(webhooks)).filter(isLost)) {
    await execute(
      webhooksDecider,
      webhooksStream,
      (all) => {
        const webhook = webhookOf(all, webhookId);
        return webhook && isLost(webhook) ? removeWebhook(all, { webhookId, at: now() }) : [];
      },
      context,
    );
    removed.push({ webhookId, url });
  }
  return removed;
};
