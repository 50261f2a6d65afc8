import type { EventOf } from "../shape.ts";
import type { masterKeyShapes } from "./event-shapes.ts";

/** The id of the master key that the log's credentials are encrypted under. Stream `master-key`. */
export type MasterKeyRecorded = EventOf<typeof masterKeyShapes>;

export const masterKeyStream = "master-key";

/** The recorded id; undefined before the first instance starts. */
type Recorded = string | undefined;

export const masterKeyDecider = {
  initial: (): Recorded => undefined,
  evolve: (recorded: Recorded, { type, data }: MasterKeyRecorded): Recorded =>
    type === "MasterKeyRecorded" ? data.keyId : recorded,
};

/** The ids of an instance's keys: the current one, then previous ones. */
type KeyIds = readonly [string, ...string[]];

/** The recorded key is neither the instance's current key nor one of its previous ones. */
export class UnknownMasterKey extends Error {
  override readonly name = "UnknownMasterKey";
}

/**
 * Records the first key. Afterwards, every instance must have the recorded one. A start never replaces it: during a rolling
 * restart, and after a rollback, instances with only the old key must be able to start.
 * @throws {UnknownMasterKey}
 */
export const recognizeMasterKey = (recorded: Recorded, keyIds: KeyIds, at: string): MasterKeyRecorded[] => {
  if (recorded === undefined) return [recordedAs(keyIds[0], at)];
  if (keyIds.includes(recorded)) return [];
  throw new UnknownMasterKey(
    `this key is ${keyIds[0]}, the log's is ${recorded}: set that one, or name it in MASTER_KEY_PREVIOUS`,
  );
};

/** Records that all credentials are encrypted under this key. */
export const replaceMasterKey = (recorded: Recorded, keyId: string, at: string): MasterKeyRecorded[] =>
  recorded === keyId ? [] : [recordedAs(keyId, at)];

const recordedAs = (keyId: string, at: string): MasterKeyRecorded => ({
  type: "MasterKeyRecorded",
  data: { keyId, at },
});
