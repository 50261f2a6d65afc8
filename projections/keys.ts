import { type IssuedKey, type Key, keyDecider, keyStream } from "../src/domain/accounts/key.ts";
import { streamProjection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** The current state of every key. Partition: `key-{apiKey}`. */
export const keys = streamProjection("keys", 1, keyStream(""), keyDecider);

export const findKey = (view: View<Key>, apiKey: string): IssuedKey | undefined => {
  const key = view.get(keyStream(apiKey));
  return key === undefined || key.status === "absent" ? undefined : key;
};

/**
 * All keys or one website's, oldest first: a view keeps its partitions in the order of their first
 * events.
 */
export const allKeys = (view: View<Key>, websiteId?: string): IssuedKey[] =>
  Iterator.from(view.entries())
    .map(([, key]) => key)
    .filter((key) => key.status !== "absent")
    .filter((key) => websiteId === undefined || key.websiteId === websiteId)
    .toArray();
