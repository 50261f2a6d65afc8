import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { closeJournal } from "../../../src/ledger/journal/close-journal.ts";
import { duringSuite } from "../../support/during.ts";
import { createManualTime } from "../../support/manual-time.ts";
import { openTemporaryStore } from "../../support/temporary-store.ts";
import { type Disturbance, disturbedStore } from "../disturbed-store.ts";
import { JournalProcess } from "./journal-process.ts";

type SimpleAction = "turn" | "answer" | "hold" | "release" | "fence" | "void" | "mark posted";

type Action =
  | { readonly type: "serve"; readonly count: number; readonly hash: string }
  | { readonly type: "disturb"; readonly next: readonly Disturbance[] }
  | { readonly type: "advance"; readonly ms: number }
  | { readonly type: "set back"; readonly ms: number }
  | { readonly type: SimpleAction };

const disturbance = fc.constantFrom<Disturbance>("none", "refused", "answer lost");
const only = (type: SimpleAction): fc.Arbitrary<Action> => fc.constant({ type });

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant("serve" as const),
      count: fc.integer({ min: 1, max: 40 }),
      hash: fc.constantFrom("x", "y"),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("disturb" as const),
      next: fc.array(disturbance, { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 20, 400, 5_000, 3_600_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant("set back" as const),
      ms: fc.constantFrom(1, 5_000, 4_000_000),
    }),
  },
  { weight: 3, arbitrary: only("turn") },
  { weight: 3, arbitrary: only("answer") },
  { weight: 1, arbitrary: only("hold") },
  { weight: 2, arbitrary: only("release") },
  { weight: 1, arbitrary: only("fence") },
  { weight: 2, arbitrary: only("void") },
  { weight: 1, arbitrary: only("mark posted") },
);

describe("the writer of a journal, under any schedule", () => {
  const temporary = duringSuite(openTemporaryStore);
  let runs = 0;

  const run = async (actions: readonly Action[]): Promise<void> => {
    runs += 1;
    const store = disturbedStore(temporary.store);
    const time = createManualTime();
    let now = Date.parse("2026-11-30T23:30:00.000Z");
    const options = {
      store,
      clock: () => now,
      time,
      deadlineMs: 5_000,
      maxPending: 60,
      maxFlushBytes: 6_000,
    };
    const process = new JournalProcess(`run-${runs}`, options);
    const advance = (ms: number) => {
      now += ms;
      time.advance(ms);
    };
    /** Lets time pass until the promise settles, slowly enough for a busy store. */
    const settle = async <T>(promise: Promise<T>): Promise<T> => {
      let isSettled = false;
      const end = () => {
        isSettled = true;
      };
      promise.then(end, end);
      while (!isSettled) {
        advance(1);
        await setImmediate();
      }
      return promise;
    };
    const perform = async (one: Action): Promise<unknown> => {
      switch (one.type) {
        case "serve":
          for (let index = 0; index < one.count; index++) process.serve({ hash: one.hash });
          return;
        case "disturb":
          return store.disturb(...one.next);
        case "advance":
          return advance(one.ms);
        case "set back":
          now -= one.ms;
          return;
        case "turn":
          return await setImmediate();
        case "answer":
          return await temporary.store.ping();
        case "hold":
          return store.hold();
        case "release":
          return store.release();
        case "fence":
          return await closeJournal(temporary.store, () => now, process.journal, "silent");
        case "void":
          return process.void();
        case "mark posted":
          return process.notePosted();
      }
    };
    for (const one of actions) await perform(one);
    store.release();
    let journal: string;
    do {
      journal = process.journal;
      await settle(process.flush());
      await settle(process.close());
      await setImmediate();
    } while (journal !== process.journal || process.unanswered > 0);
    await process.verify(temporary.store);
  };

  it("responds and journals the same servings, none twice, in one chain of bounded appends", () =>
    fc.assert(fc.asyncProperty(fc.array(action, { maxLength: 40 }), run), { numRuns: 150 }));
});
