import { keyStream } from "../src/domain/accounts/key.ts";
import type { Projection } from "./projection.ts";
import type { View } from "./runner/view.ts";

/** A key that was suspended or reinstated. */
export interface SuspensionChange {
  readonly id: string;
  readonly type: "KeySuspended" | "KeyReinstated";
  readonly apiKey: string;
  /** Reinstatements have none. */
  readonly cause?: string;
  readonly reason: string;
  readonly at: string;
}

const partition = "latest";
/** Webhooks are notified within seconds, so the last changes suffice. */
const maxChanges = 500;

/** The last suspensions and reinstatements of all keys, in order. */
export const suspensions: Projection<readonly SuspensionChange[]> = {
  name: "suspensions",
  version: 1,
  prefixes: [keyStream("")],
  partition: ({ type }) => (type === "KeySuspended" || type === "KeyReinstated" ? partition : undefined),
  initial: () => [],
  apply: (changes, { id, stream, type, data }) => {
    const { cause, reason, at } = data as Pick<SuspensionChange, "cause" | "reason" | "at">;
    const apiKey = stream.slice(keyStream("").length);
    const change = { id, type: type as SuspensionChange["type"], apiKey, reason, at };
    return [...changes, { ...change, ...(cause !== undefined && { cause }) }].slice(-maxChanges);
  },
};

export const latestSuspensions = (view: View<readonly SuspensionChange[]>): readonly SuspensionChange[] =>
  view.get(partition) ?? [];
