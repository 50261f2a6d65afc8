import { createSecretKey, type KeyObject } from "node:crypto";
import type { Encrypted } from "../../domain/accounts/event-shapes.ts";
import {
  createNamingKey,
  masterKeyDecider,
  masterKeyStream,
  reencryptNamingKey as reencrypted,
} from "../../domain/accounts/master-key.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { type CredentialsCipher, DecryptionFailed, type NamingKeyOwner } from "./credentials-cipher.ts";
import type { Random } from "./identifiers.ts";

const keyBytes = 32;
export const namingKeyOwner: NamingKeyOwner = { purpose: "naming key" };

export interface NamingKey {
  readonly key: KeyObject;
  /** The time at which the key was created. */
  readonly createdAt: EpochMs;
}

/**
 * The key under which all instances name audio. The first process that asks for it creates it. It
 * does not change when the master key does.
 * @throws {DecryptionFailed}
 * @throws {Unavailable}
 */
export const obtainNamingKey = async ({
  handler,
  cipher,
  random,
  at,
}: {
  readonly handler: CommandHandler;
  readonly cipher: CredentialsCipher;
  readonly random: Random;
  readonly at: string;
}): Promise<NamingKey> => {
  const created = { ...encryptNewNamingKey(cipher, random), at };
  const { state } = await handler.execute(
    masterKeyDecider,
    masterKeyStream,
    (keys) => createNamingKey(keys, created),
    { actor: "system" },
  );
  const { createdAt, ...encrypted } = state.namingKey ?? { ...created, createdAt: at };
  const key = createSecretKey(Buffer.from(cipher.decrypt(encrypted, namingKeyOwner), "base64"));
  return { key, createdAt: Date.parse(createdAt) };
};

export const encryptNewNamingKey = (cipher: CredentialsCipher, random: Random): Encrypted =>
  cipher.encrypt(random(keyBytes).toString("base64"), namingKeyOwner);

/** Encrypts the naming key under the current master key, if there is a naming key. */
export const reencryptNamingKey = async (
  {
    execute,
    cipher,
    now,
  }: { readonly execute: ExecuteCommand; readonly cipher: CredentialsCipher; readonly now: () => string },
  context: CommandContext,
): Promise<{ reencrypted: number; current: number; unopened: readonly NamingKeyOwner[] }> => {
  const { namingKey: was } = await execute(masterKeyDecider, masterKeyStream, () => [], context);
  if (!was) return { reencrypted: 0, current: 0, unopened: [] };
  if (was.keyId === cipher.keyId) return { reencrypted: 0, current: 1, unopened: [] };
  try {
    const again = cipher.encrypt(cipher.decrypt(was, namingKeyOwner), namingKeyOwner);
    const renewed = { ...again, was: was.ciphertext, at: now() };
    await execute(masterKeyDecider, masterKeyStream, (keys) => reencrypted(keys, renewed), context);
    return { reencrypted: 1, current: 0, unopened: [] };
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) throw error;
    return { reencrypted: 0, current: 0, unopened: [namingKeyOwner] };
  }
};
