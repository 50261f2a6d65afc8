import type { ObjectName } from "./audio-store.ts";

const pattern = /^(?:audio|private)\/[0-9a-f]{64}\.(?:mp3|ogg|wav)$/;

/** Whether `objectName` (domain/recipe.ts) could have made it; nothing else may become a path, a key or a URL. */
const isObjectName = (name: string): name is ObjectName => pattern.test(name);

/** @throws {TypeError} for what is no object's name; the name itself is not repeated. */
export const checkObjectName = (name: string): void => {
  if (!isObjectName(name)) throw new TypeError("Not the name of an audio object.");
};
