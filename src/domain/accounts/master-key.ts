import { never } from "../never.ts";
import type { EventOf } from "../shape.ts";
import type { Encrypted, masterKeyShapes } from "./event-shapes.ts";

/**
 * The keys of an installation: the id of the master key, under which the log's secrets are
 * encrypted, and the naming key, by which audio is named. The naming key is encrypted under the
 * master key. Stream `master-key`: every version seals it and ignores types of events that it does
 * not know.
 */
export type InstallationKeysEvent = EventOf<typeof masterKeyShapes>;

export const masterKeyStream = "master-key";

export interface InstallationKeys {
  /** Absent before the first instance starts. */
  readonly masterKeyId?: string;
  /**
   * Holds 32 bytes in base64, encrypted. Absent until the first start of a version that names audio
   * by this key.
   */
  readonly namingKey?: Encrypted & { readonly createdAt: string };
}

export const masterKeyDecider = {
  initial: (): InstallationKeys => ({}),
  evolve: (keys: InstallationKeys, event: InstallationKeysEvent): InstallationKeys => {
    switch (event.type) {
      case "MasterKeyRecorded":
        return { ...keys, masterKeyId: event.data.keyId };
      case "NamingKeyCreated":
      case "NamingKeyReencrypted": {
        const { ciphertext, keyId, at } = event.data;
        const createdAt = event.type === "NamingKeyCreated" ? at : (keys.namingKey?.createdAt ?? at);
        return { ...keys, namingKey: { ciphertext, keyId, createdAt } };
      }
      default:
        return never(event, keys);
    }
  },
};

/** The ids of an instance's master keys: the current one, then previous ones. */
type KeyIds = readonly [string, ...string[]];

/** The recorded key is neither the instance's current key nor one of its previous ones. */
export class UnknownMasterKey extends Error {
  override readonly name = "UnknownMasterKey";
}

/**
 * Records the first key. After that, every instance must have the recorded key. A start never
 * replaces it: during a rolling restart, and after a rollback, instances with only the old key must
 * be able to start.
 * @throws {UnknownMasterKey}
 */
export const recognizeMasterKey = (
  { masterKeyId }: InstallationKeys,
  keyIds: KeyIds,
  at: string,
): InstallationKeysEvent[] => {
  if (masterKeyId === undefined) return [recordedAs(keyIds[0], at)];
  if (keyIds.includes(masterKeyId)) return [];
  throw new UnknownMasterKey(
    `this key is ${keyIds[0]}, the log's is ${masterKeyId}: set that one, or name it in MASTER_KEY_PREVIOUS`,
  );
};

/** Records that all secrets are encrypted under this key. */
export const replaceMasterKey = (
  { masterKeyId }: InstallationKeys,
  keyId: string,
  at: string,
): InstallationKeysEvent[] => (masterKeyId === keyId ? [] : [recordedAs(keyId, at)]);

const recordedAs = (keyId: string, at: string): InstallationKeysEvent => ({
  type: "MasterKeyRecorded",
  data: { keyId, at },
});

/**
 * Records the naming key, unless there is one: instances that start at the same time use the first
 * one.
 */
export const createNamingKey = (
  { namingKey }: InstallationKeys,
  created: Encrypted & { readonly at: string },
): InstallationKeysEvent[] => (namingKey ? [] : [{ type: "NamingKeyCreated", data: created }]);

/** Returns no event if the key was reencrypted after it was opened (`was`). */
export const reencryptNamingKey = (
  { namingKey }: InstallationKeys,
  { was, ...reencrypted }: Encrypted & { readonly was: string; readonly at: string },
): InstallationKeysEvent[] =>
  namingKey?.ciphertext === was ? [{ type: "NamingKeyReencrypted", data: reencrypted }] : [];
