import type { Expected, LoggedEvent } from "./logged-event.ts";

export interface ProposedAppend {
  readonly stream: string;
  readonly ids: readonly string[];
  readonly expected: Expected;
  /** The stream's last revision, -1 without events. */
  readonly current: number;
  readonly revisions: (stream: string, revision: number) => LoggedEvent | undefined;
}

/** `repeated` is the last revision of the repeated append. */
export type Verdict = "new" | "conflict" | { readonly repeated: number };

/**
 * Decides like the server whether an append is new, a repeat or a conflict. With `any`, the
 * remembered ids decide; with an exact revision, the events after it. At the current revision, ids
 * are not compared.
 */
export const idempotency = () => {
  const remembered = new Map<string, { readonly stream: string; readonly revision: number }>();

  const judgeAny = ({ stream, ids, expected, current }: ProposedAppend): Verdict => {
    if (expected === "exists" && current < 0) return "conflict";
    let last = -1;
    for (const [index, id] of ids.entries()) {
      const known = remembered.get(id);
      if (known?.stream !== stream) return index === 0 ? "new" : "conflict";
      last = known.revision;
    }
    return last < 0 ? "new" : { repeated: last };
  };

  const judgeExact = ({ stream, ids, current, revisions }: ProposedAppend, expected: number): Verdict => {
    if (expected === current) return "new";
    if (expected > current || ids.length === 0) return "conflict";
    const same = ids.every((id, index) => revisions(stream, expected + 1 + index)?.id === id);
    return same ? { repeated: expected + ids.length } : "conflict";
  };

  return {
    remember: ({ id, stream, revision }: LoggedEvent): void => void remembered.set(id, { stream, revision }),
    forget: (): void => remembered.clear(),
    judge: (append: ProposedAppend): Verdict => {
      const { expected } = append;
      if (expected === "any" || expected === "exists") return judgeAny(append);
      return judgeExact(append, expected === "none" ? -1 : expected);
    },
  };
};
