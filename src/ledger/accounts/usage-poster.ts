import type { Time } from "../../async/time.ts";
import {
  type PostingState,
  postingDecider,
  postUsage,
  type UsageAccountEvent,
  usageAccountStream,
} from "../../domain/ledger/accounts/usage-account.ts";
import { postingId } from "../../domain/ledger/accounts/usage-event-ids.ts";
import { postedTotals } from "../../domain/ledger/accounts/usage-sum.ts";
import type { EpochMs } from "../../domain/time.ts";
import { createCommandHandler, type StreamSnapshot } from "../../eventstore/command-handler.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import type { UnpostedEntries } from "./unposted-entries.ts";

export interface Posting {
  readonly apiKey: string;
  readonly month: string;
  /** The revision after the previous posting of the journal to the account. */
  readonly fromInclusive: number;
  readonly entries: UnpostedEntries;
}

/** Posts the usage of one journal to accounts. */
export interface UsagePoster {
  /**
   * The last revision of the journal that is posted to the account; -1 before the first posting.
   * @throws {Unavailable}
   */
  lastPostedRevision(apiKey: string, month: string): Promise<number>;
  /**
   * Appends the posting. Idempotent. Resolves with a log position at or after the posting's.
   * @throws {Unavailable}
   * @throws {OutcomeUnknown} after which it must be repeated with the same entries
   * @throws {UsageAccountIsClosed}
   * @throws {PostingOutOfOrder}
   */
  post(posting: Posting): Promise<number>;
}

export interface UsagePosterOptions {
  readonly store: EventStore;
  readonly journal: string;
  /**
   * A log position before the journal's first event: no posting of the journal is at or before it.
   */
  readonly fromExclusive: number;
  readonly clock: () => EpochMs;
  readonly time: Time;
}

export const createUsagePoster = ({
  store,
  journal,
  fromExclusive,
  clock,
  time,
}: UsagePosterOptions): UsagePoster => {
  const decider = postingDecider(journal);

  /**
   * Folds only the account's last events: from the journal's last posting on, or, if it has none,
   * from the last event with a balance at or before `fromExclusive`. A crossed threshold has no
   * balance.
   */
  const readSnapshot = async (stream: string): Promise<StreamSnapshot<PostingState> | undefined> => {
    const latest: RecordedEvent[] = [];
    for await (const event of store.readStream(stream, { direction: "backwards" })) {
      latest.unshift(event);
      const isBefore = event.position <= fromExclusive && event.type !== "QuotaThresholdCrossed";
      if (isBefore || isPostingOf(event, journal)) break;
    }
    const last = latest.at(-1);
    if (!last) return undefined;
    const state = (latest as unknown as UsageAccountEvent[]).reduce(decider.evolve, decider.initial());
    return { state, revision: last.revision, position: last.position };
  };

  // The poster has a separate handler, because its snapshots are only right for this journal.
  const handler = createCommandHandler({ store, clock, time, readSnapshot });
  const execute = (
    apiKey: string,
    month: string,
    decide: (state: PostingState) => readonly UsageAccountEvent[],
  ) => handler.execute(decider, usageAccountStream(apiKey, month), decide, { actor: "system" });

  return {
    lastPostedRevision: async (apiKey, month) => (await execute(apiKey, month, () => [])).state.through,
    post: async ({ apiKey, month, fromInclusive, entries }) => {
      const { toInclusive, ranges, digest } = entries;
      const id = postingId(journal, apiKey, month, toInclusive);
      const at = new Date(clock()).toISOString();
      const posting = {
        journal,
        from: fromInclusive,
        through: toInclusive,
        ranges,
        digest,
        ...postedTotals(entries),
        at,
      };
      const { position } = await execute(apiKey, month, (state) =>
        postUsage(state, posting).map((event) => ({ id, ...event })),
      );
      return position;
    },
  };
};

const isPostingOf = ({ type, data }: RecordedEvent, journal: string): boolean =>
  type === "UsagePosted" && "journal" in data && data.journal === journal;
