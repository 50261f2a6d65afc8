import type { SuspensionCause } from "../src/domain/accounts/event-shapes.ts";
import { keyStream } from "../src/domain/accounts/key.ts";
import type { Projection } from "./projection.ts";
import type { LiveView } from "./runner/view.ts";

type Counts = Readonly<Record<SuspensionCause, number>>;

/** How often a key was suspended and reinstated, and the cause of a suspension that lasts. */
export interface KeySuspensions {
  readonly suspendedBy: SuspensionCause | null;
  readonly suspensions: Counts;
  /** They are counted by the cause of the suspension that ended. */
  readonly reinstatements: Counts;
}

/** The number of keys that are suspended now, and of all suspensions and reinstatements so far. */
export interface SuspensionCounts extends Pick<KeySuspensions, "suspensions" | "reinstatements"> {
  readonly suspendedKeys: Counts;
}

const causes: readonly SuspensionCause[] = ["quota", "operator"];
const none: Counts = { quota: 0, operator: 0 };
const plusOne = (counts: Counts, cause: SuspensionCause): Counts => ({
  ...counts,
  [cause]: counts[cause] + 1,
});

/** Partition: `key-{apiKey}`, of keys that were suspended at least once. */
export const suspensionCounts: Projection<KeySuspensions> = {
  name: "suspension-counts",
  version: 1,
  prefixes: [keyStream("")],
  partition: ({ type, stream }) => (type === "KeySuspended" || type === "KeyReinstated" ? stream : undefined),
  initial: () => ({ suspendedBy: null, suspensions: none, reinstatements: none }),
  apply: (key, { type, data }) => {
    if (type === "KeySuspended") {
      // A later version may know further causes.
      const cause = causes.find((one) => one === (data as { readonly cause: string }).cause);
      if (cause === undefined) return { ...key, suspendedBy: null };
      return { ...key, suspendedBy: cause, suspensions: plusOne(key.suspensions, cause) };
    }
    if (key.suspendedBy === null) return key;
    return { ...key, suspendedBy: null, reinstatements: plusOne(key.reinstatements, key.suspendedBy) };
  },
};

/** Returns a function that adds up the counts of all keys, again only after a change. */
export const createSuspensionCounts = (view: LiveView<KeySuspensions>): (() => SuspensionCounts) => {
  let counted = -1;
  let counts: SuspensionCounts = { suspendedKeys: none, suspensions: none, reinstatements: none };
  return () => {
    if (counted === view.changes) return counts;
    const sums = { suspendedKeys: { ...none }, suspensions: { ...none }, reinstatements: { ...none } };
    for (const [, { suspendedBy, suspensions, reinstatements }] of view.entries()) {
      if (suspendedBy !== null) sums.suspendedKeys[suspendedBy] += 1;
      for (const cause of causes) {
        sums.suspensions[cause] += suspensions[cause];
        sums.reinstatements[cause] += reinstatements[cause];
      }
    }
    [counted, counts] = [view.changes, sums];
    return counts;
  };
};
