import { isObjectName } from "../../domain/synthesis/recipe.ts";

/** See `objectName` in src/domain/synthesis/recipe.ts. */
export type ObjectName = string;

/** Immutable objects under content-addressed names. `get` and `put` throw a TypeError for any other name. */
export interface AudioStore {
  /** The object, or undefined if there is none. @throws {AudioStoreUnavailable}; the signal's reason */
  get(name: ObjectName, signal?: AbortSignal): Promise<Buffer | undefined>;
  /**
   * Stores the object atomically and durably. An existing object is never overwritten: a second put of the same name is a
   * no-op. @throws {AudioStoreUnavailable}; {TypeError} the object is empty
   */
  put(name: ObjectName, bytes: Buffer): Promise<void>;
  /** Resolves if the store can be written. @throws {AudioStoreUnavailable} */
  ping(): Promise<void>;
  /** Waits for the puts under way. */
  close(): Promise<void>;
}

/** @throws {TypeError} without the name in its message, which may come from a request */
export const checkObjectName = (name: string): void => {
  if (!isObjectName(name)) throw new TypeError("Not the name of an audio object.");
};

/** The store cannot be reached, or refuses. Whether the object exists is unknown. */
export class AudioStoreUnavailable extends Error {
  override readonly name = "AudioStoreUnavailable";
}
