/**
 * Which master key the log's credentials are sealed under, by its id alone. Stream `master-key`. Times are ISO 8601, UTC.
 */
export interface MasterKeyRecorded {
  readonly type: "MasterKeyRecorded";
  readonly data: { readonly keyId: string; readonly at: string };
}

export const masterKeyStream = "master-key";

/** The recorded id; undefined before the first instance starts. */
type Recorded = string | undefined;

export const masterKeyDecider = {
  initial: (): Recorded => undefined,
  evolve: (recorded: Recorded, { type, data }: MasterKeyRecorded): Recorded =>
    type === "MasterKeyRecorded" ? data.keyId : recorded,
};

/** The ids of an instance's keys: the one that seals now, then those that only open. */
type KeyIds = readonly [string, ...string[]];

/** The instance has neither the recorded key nor names it among its previous ones. */
export class UnknownMasterKey extends Error {
  override readonly name = "UnknownMasterKey";
}

/**
 * Records the first key. Afterwards an instance must have the recorded one. A start never replaces it: during a rolling
 * restart, and after one that is rolled back, instances that know only the old key must still be able to start.
 * @throws {UnknownMasterKey}
 */
export const recognizeMasterKey = (recorded: Recorded, keyIds: KeyIds, at: string): MasterKeyRecorded[] => {
  if (recorded === undefined) return [recordedAs(keyIds[0], at)];
  if (keyIds.includes(recorded)) return [];
  throw new UnknownMasterKey(
    `this key is ${keyIds[0]}, the log's is ${recorded}: set that one, or name it in MASTER_KEY_PREVIOUS`,
  );
};

/** All credentials are sealed under this key now. */
export const replaceMasterKey = (recorded: Recorded, keyId: string, at: string): MasterKeyRecorded[] =>
  recorded === keyId ? [] : [recordedAs(keyId, at)];

const recordedAs = (keyId: string, at: string): MasterKeyRecorded => ({
  type: "MasterKeyRecorded",
  data: { keyId, at },
});
