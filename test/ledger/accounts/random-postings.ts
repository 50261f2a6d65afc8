import fc from "fast-check";
import { type JournalEvent, journalStream } from "../../../src/domain/ledger/journal/journal.ts";
import { journalRegistryStream } from "../../../src/domain/ledger/journal/journal-registry.ts";
import type { Serving } from "../../../src/domain/ledger/journal/serving.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { KnownEntries } from "../../../src/ledger/accounts/known-entries.ts";
import { servingsVoided, streamsEnded, synthesesServed } from "../../support/build-journal-events.ts";
import { collect } from "../../support/collect.ts";
import { serving } from "../../support/servings.ts";
import { createRecovery, openPostedJournal, type PostedJournal } from "./posted-journal.ts";

export const keyNames = ["a", "ab", "b"] as const;
export const months = ["2026-11", "2026-12"] as const;
const journals = 2;

export type Action =
  | {
      readonly do: "serve";
      readonly journal: number;
      readonly keys: readonly string[];
      readonly voice: string;
    }
  | { readonly do: "void"; readonly journal: number; readonly which: number; readonly repeat: boolean }
  | { readonly do: "end"; readonly journal: number; readonly key: string }
  | { readonly do: "post" | "check" | "recover"; readonly journal: number }
  | { readonly do: "follow" }
  | { readonly do: "miss" }
  | { readonly do: "catch up" }
  | { readonly do: "pass"; readonly minutes: number };

const journal = fc.nat({ max: journals - 1 });
const key = fc.constantFrom(...keyNames);
export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("serve" as const),
      journal,
      keys: fc.array(key, { minLength: 1, maxLength: 4 }),
      voice: fc.constantFrom("UK English Female", "constructor", "a b c"),
    }),
  },
  fc.record({ do: fc.constant("void" as const), journal, which: fc.nat(), repeat: fc.boolean() }),
  fc.record({ do: fc.constant("end" as const), journal, key }),
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("post" as const, "check" as const), journal }) },
  fc.record({ do: fc.constant("recover" as const), journal }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), minutes: fc.nat({ max: 90 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: "follow" as const }) },
  fc.constant({ do: "miss" as const }),
  fc.constant({ do: "catch up" as const }),
);

export interface Entry {
  readonly event: JournalEvent;
  readonly position: number;
  readonly journal: string;
}

/**
 * Executes the actions on journals whose keys have this prefix. Resolves with the entries, and with
 * the journals that were closed and recovered on the way. The first journal is that of the process
 * to which the known entries belong.
 */
export const runActions = async (
  store: EventStore,
  actions: readonly Action[],
  prefix: string,
  known = new KnownEntries(),
) => {
  const entries: Entry[] = [];
  const closed: string[] = [];
  const served: { serving: Serving; at: string }[] = [];
  // Near the end of the month. Each journal has a clock of its own.
  let now = Date.parse("2026-11-30T22:00:00.000Z");
  const timeOf = (index: number) => new Date(now + index * 2_500).toISOString();
  const opened: PostedJournal[] = [];
  const open = async (index: number): Promise<void> => {
    opened[index] = await openPostedJournal(store, { maxServings: 3, clock: () => now });
    if (index === 0) known.addOwn(opened[index].log.journal, opened[index].postings);
  };
  for (let n = 0; n < journals; n++) await open(n);
  const followed = followJournals(store, known);
  const record = async (index: number, event: JournalEvent) => {
    const { log, record: append } = opened[index] as PostedJournal;
    await append(event);
    entries.push({ event, position: await lastPosition(store, log.journal), journal: log.journal });
  };
  const recover = async (index: number) => {
    const { log, postings } = opened[index] as PostedJournal;
    await log.close(timeOf(index));
    const recoverJournal = createRecovery(store, timeOf(index));
    const all = [1, 2].map(() => recoverJournal(log.journal, "silent"));
    await Promise.all([...all, postings.close()]);
    closed.push(log.journal);
    await open(index);
  };
  for (const step of actions) {
    now += 1_000;
    if (step.do === "pass") now += step.minutes * 60_000;
    else if (step.do === "serve") {
      const at = timeOf(step.journal);
      const servings = step.keys.map((name, n) =>
        serving({ apiKey: prefix + name, characters: entries.length + n, voice: step.voice }),
      );
      for (const one of servings) served.push({ serving: one, at });
      await record(step.journal, synthesesServed(at, servings));
    } else if (step.do === "void") {
      const voided = served[step.which % served.length];
      if (!voided) continue;
      const reason = step.repeat ? "repeat" : "unanswered";
      const { apiKey, characters, voice } = voided.serving;
      const members = { apiKey, characters, voice, servedAt: voided.at, reason } as const;
      await record(step.journal, servingsVoided(timeOf(step.journal), [members]));
    } else if (step.do === "end") {
      await record(step.journal, streamsEnded(timeOf(step.journal), [prefix + step.key]));
    } else if (step.do === "follow" || step.do === "miss" || step.do === "catch up") {
      if (step.do === "catch up") await known.catchUp(store);
      else await followed(opened[1]?.log.journal ?? "", step.do === "follow");
    } else if (step.do === "recover") await recover(step.journal);
    else if (step.do === "check") await opened[step.journal]?.advance(60_000);
    else await opened[step.journal]?.advance(15 * 60_000);
  }
  // Postings that are in progress.
  for (const { postings } of opened) await postings.post();
  if (actions.length % 3 > 0) await followed(opened[1]?.log.journal ?? "", true);
  return { entries, closed, opened, errors: opened.flatMap(({ errors }) => errors) };
};

/**
 * Reads the events of the registry and of a journal since the last call, and passes them on or not.
 */
const followJournals = (store: EventStore, known: KnownEntries) => {
  const next = new Map<string, number>();
  return async (followedJournal: string, isPassedOn: boolean): Promise<void> => {
    for (const stream of [journalRegistryStream, journalStream(followedJournal)]) {
      const events = await collect(store.readStream(stream, { fromInclusive: next.get(stream) ?? 0 }));
      next.set(stream, (events.at(-1)?.revision ?? (next.get(stream) ?? 0) - 1) + 1);
      if (isPassedOn || stream === journalRegistryStream) known.follow(events);
    }
  };
};

const lastPosition = async (store: EventStore, journalName: string): Promise<number> => {
  for await (const event of store.readStream(`journal-${journalName}`, {
    direction: "backwards",
    limit: 1,
  })) {
    return event.position;
  }
  return -1;
};
