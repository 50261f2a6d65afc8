import {
  evolveKey,
  type IssuedKey,
  initialKey,
  type Key,
  type KeyEvent,
  keyStream,
} from "../src/domain/accounts/key.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/runner.ts";

/** The current state of every key. Partition: `key-{apiKey}`. */
export const keys: Projection<Key> = {
  name: "keys",
  version: 1,
  prefixes: [keyStream("")],
  partition: ({ stream }) => stream,
  initial: initialKey,
  apply: (key, { type, data }) => evolveKey(key, { type, data } as KeyEvent),
};

export const findKey = (view: View<Key>, apiKey: string): IssuedKey | undefined => {
  const key = view.get(keyStream(apiKey));
  return key === undefined || key.status === "absent" ? undefined : key;
};

/** All keys or one website's, oldest first: a view keeps its partitions in the order of their first events. */
export const allKeys = (view: View<Key>, websiteId?: string): IssuedKey[] =>
  Iterator.from(view.entries())
    .map(([, key]) => key)
    .filter((key) => key.status !== "absent")
    .filter((key) => websiteId === undefined || key.websiteId === websiteId)
    .toArray();
