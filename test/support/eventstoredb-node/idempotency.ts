import type { Expected, LoggedEvent } from "./logged-event.ts";

export interface Question {
  readonly stream: string;
  readonly ids: readonly string[];
  readonly expected: Expected;
  /** The stream's last revision, -1 when it has none. */
  readonly current: number;
  readonly revisions: (stream: string, revision: number) => LoggedEvent | undefined;
}

/** A repeat names the revision at which the repeated append ended. */
export type Verdict = "new" | "conflict" | { readonly repeated: number };

/**
 * Whether an append is new, a repeat or a conflict, as the server judges it: by the ids that it remembers with `any`,
 * by what lies at the revisions with an exact one, and without a look at the ids where the revision is the current one.
 */
export const idempotency = () => {
  const remembered = new Map<string, { readonly stream: string; readonly revision: number }>();

  const judgeAny = ({ stream, ids, expected, current }: Question): Verdict => {
    if (expected === "exists" && current < 0) return "conflict";
    let last = -1;
    for (const [index, id] of ids.entries()) {
      const known = remembered.get(id);
      if (known?.stream !== stream) return index === 0 ? "new" : "conflict";
      last = known.revision;
    }
    return last < 0 ? "new" : { repeated: last };
  };

  const judgeExact = ({ stream, ids, current, revisions }: Question, expected: number): Verdict => {
    if (expected === current) return "new";
    if (expected > current || ids.length === 0) return "conflict";
    const same = ids.every((id, index) => revisions(stream, expected + 1 + index)?.id === id);
    return same ? { repeated: expected + ids.length } : "conflict";
  };

  return {
    remember: ({ id, stream, revision }: LoggedEvent): void => void remembered.set(id, { stream, revision }),
    forget: (): void => remembered.clear(),
    judge: (question: Question): Verdict => {
      const { expected } = question;
      if (expected === "any" || expected === "exists") return judgeAny(question);
      return judgeExact(question, expected === "none" ? -1 : expected);
    },
  };
};
