/** The audio store's port: immutable objects under content-addressed names. */

/**
 * An object's name, made by `objectName` (domain/recipe.ts) alone: `audio/{hash}.{ext}` for what a CDN may pull,
 * `private/{hash}.{ext}` for what belongs to one website.
 */
export type ObjectName = string;

/** Anything else than an object's name is refused with a TypeError, by get and by put. */
export interface AudioStore {
  /**
   * The whole object, or undefined when there is none. Aborted, it throws the signal's reason.
   * @throws {AudioStoreUnavailable}
   */
  get(name: ObjectName, signal?: AbortSignal): Promise<Buffer | undefined>;
  /**
   * Keeps the object, whole or not at all, durably. An object that is there is never overwritten: a second put of
   * the same name is a no-op. An empty object is refused with a TypeError.
   * @throws {AudioStoreUnavailable}
   */
  put(name: ObjectName, bytes: Buffer): Promise<void>;
  /** Answers when the store can be written now. @throws {AudioStoreUnavailable} */
  ping(): Promise<void>;
  /** Waits for the puts under way. */
  close(): Promise<void>;
}

/** The store cannot be reached or refuses; nothing is known of the object. */
export class AudioStoreUnavailable extends Error {
  override readonly name = "AudioStoreUnavailable";
}
