import { Conflict } from "../errors.ts";
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
  /** The last report of a loss, and the instance that objected to it. */
  readonly loss?: LossReport & { readonly foundBy?: string };
  /** Present if the recorded key replaced a lost one. */
  readonly replaced?: { readonly lostKeyId: string; readonly at: string };
}

export interface LossReport {
  readonly reportId: string;
  readonly keyId: string;
}

export const masterKeyDecider = {
  initial: (): InstallationKeys => ({}),
  evolve: (keys: InstallationKeys, event: InstallationKeysEvent): InstallationKeys => {
    switch (event.type) {
      case "MasterKeyRecorded": {
        const { replaced: _, ...others } = keys;
        return { ...others, masterKeyId: event.data.keyId };
      }
      case "NamingKeyCreated":
      case "NamingKeyReencrypted": {
        const { ciphertext, keyId, at } = event.data;
        const createdAt = event.type === "NamingKeyCreated" ? at : (keys.namingKey?.createdAt ?? at);
        return { ...keys, namingKey: { ciphertext, keyId, createdAt } };
      }
      case "MasterKeyLossReported": {
        const { reportId, keyId } = event.data;
        return { ...keys, loss: { reportId, keyId } };
      }
      case "MasterKeyFound": {
        const { reportId, instance } = event.data;
        return keys.loss?.reportId === reportId
          ? { ...keys, loss: { ...keys.loss, foundBy: instance } }
          : keys;
      }
      case "MasterKeyReplaced": {
        const { loss: _, ...others } = keys;
        const { lostKeyId, at } = event.data;
        return { ...others, replaced: { lostKeyId, at } };
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
    `this key is ${keyIds[0]}, the log's is ${masterKeyId}: set that one, or name it in MASTER_KEY_PREVIOUS. If it is lost, see docs/operate/master-key.md`,
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

/** The key is not lost, or another command reports its loss too. */
export class LossRefused extends Conflict {}

/**
 * Reports that the recorded key is lost. `keyIds`: the ids of the keys that this command has.
 * @throws {LossRefused} if it has the recorded one
 */
export const reportLoss = (
  { masterKeyId }: InstallationKeys,
  {
    reportId,
    keyIds,
    at,
  }: { readonly reportId: string; readonly keyIds: readonly string[]; readonly at: string },
): InstallationKeysEvent[] => {
  if (masterKeyId === undefined) throw new LossRefused("The log records no master key, so none is lost.");
  if (keyIds.includes(masterKeyId)) {
    throw new LossRefused(
      `The log's master key ${masterKeyId} is not lost: MASTER_KEY, MASTER_KEY_PREVIOUS or DATA_DIR/master.key has it.`,
    );
  }
  return [{ type: "MasterKeyLossReported", data: { reportId, keyId: masterKeyId, at } }];
};

/** Objects to the last report of a loss, unless another instance did, or the key is replaced. */
export const objectToLoss = (
  { loss }: InstallationKeys,
  { reportId, keyId, instance, at }: LossReport & { readonly instance: string; readonly at: string },
): InstallationKeysEvent[] =>
  loss?.reportId === reportId && loss.foundBy === undefined
    ? [{ type: "MasterKeyFound", data: { reportId, keyId, instance, at } }]
    : [];

/** @throws {LossRefused} if an instance objected, or the report is no longer the last one */
export const requireLost = ({ loss, masterKeyId }: InstallationKeys, reportId: string): string => {
  if (loss?.reportId !== reportId || masterKeyId === undefined)
    throw new LossRefused("Another command reported the loss at the same time. Repeat this one.");
  if (loss.foundBy === undefined) return masterKeyId;
  throw new LossRefused(
    `The master key ${masterKeyId} is not lost: the running instance ${loss.foundBy} has it. Stop every instance, or rotate the key.`,
  );
};

/**
 * Replaces the lost key. `namingKey`: a new naming key, if the recorded one cannot be decrypted.
 * @throws as `requireLost` does
 */
export const replaceLostMasterKey = (
  keys: InstallationKeys,
  {
    namingKey,
    ...replaced
  }: {
    readonly reportId: string;
    readonly keyId: string;
    readonly reason: string;
    readonly at: string;
    readonly namingKey?: Encrypted | undefined;
  },
): InstallationKeysEvent[] => {
  const { keyId, at } = replaced;
  const lostKeyId = requireLost(keys, replaced.reportId);
  if (lostKeyId === keyId) return []; // another command has replaced the lost key meanwhile
  return [
    recordedAs(keyId, at),
    { type: "MasterKeyReplaced", data: { lostKeyId, ...replaced } },
    ...(namingKey ? [{ type: "NamingKeyCreated", data: { ...namingKey, at } } as const] : []),
  ];
};
