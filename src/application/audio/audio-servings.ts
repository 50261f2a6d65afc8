import { inTimeSlices } from "../../async/time-slices.ts";
import { Invalid } from "../../domain/errors.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import { journalPrefix, type ServedEvent } from "../../domain/ledger/journal/journal.ts";
import type { AudioSource, ServedAudio } from "../../domain/ledger/journal/serving.ts";
import { expandServings } from "../../domain/ledger/journal/serving-columns.ts";
import { period } from "../../domain/ledger/period.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { readBatches } from "../../eventstore/follow-events.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import { positionBefore, readPeriodEnd } from "../../ledger/audit/log-period.ts";
import { createMissingJournals, type MissingJournals } from "../../ledger/journal/missing-journals.ts";
import type { ReportQueue } from "../../ledger/reports/report-queue.ts";

/** The servings of one piece of audio in a period. */
export interface AudioServings extends ServedAudio {
  readonly served: number;
  /** The charged characters. */
  readonly characters: number;
  readonly from: Readonly<Record<AudioSource, number>>;
  readonly firstAt: string;
  readonly lastAt: string;
}

export interface ServingsRequest {
  /** Default: 31 days before `to`. */
  readonly from?: string | undefined;
  /** The end of the period, exclusive. Default: now. */
  readonly to?: string | undefined;
  /** Selects only this audio. */
  readonly hash?: string | undefined;
  readonly signal: AbortSignal;
}

interface CountedAudio {
  readonly sounds: ReadonlyMap<string, AudioServings>;
  /** All servings of the period, also of audio that is not in `sounds`. */
  readonly served: number;
  readonly fromCache: number;
  /** False if the period has more hashes than are counted. */
  readonly isComplete: boolean;
  readonly asOfPosition: number;
}

/**
 * Counts servings in the journals of at most 31 days.
 * @throws {Invalid}
 * @throws {Archived} if servings were deleted after they were archived
 * @throws {Unavailable} if too many counts are waiting, this one takes too long, or the event store
 * cannot be read
 */
export type CountServings = (request: ServingsRequest) => Promise<CountedAudio>;

/** The maximum number of hashes that are counted. It limits the memory: each takes 0.5 KB. */
const maxCounted = 100_000;
const maxPeriodMs = 31 * 24 * 60 * 60_000;

type Counted = { -readonly [Member in keyof AudioServings]: AudioServings[Member] } & {
  from: Record<AudioSource, number>;
};

export const createCountServings = ({
  store,
  queue,
  clock,
}: {
  readonly store: EventStore;
  /** Counts wait here for their turn: each may read the journals of a whole month. */
  readonly queue: ReportQueue;
  readonly clock: () => EpochMs;
}): CountServings => {
  const missing = createMissingJournals(store);
  return async ({ hash, signal, ...request }) => {
    const { to = clock(), from = to - maxPeriodMs } = parse(period, request);
    if (to <= from || to - from > maxPeriodMs) {
      throw new Invalid([{ path: ["to"], message: "Must be after `from`, by at most 31 days." }]);
    }
    return await queue
      .run("sounds", signal, (limited) =>
        count(store, missing, { fromInclusive: from, toExclusive: to, hash, signal: limited }),
      )
      .catch(throwUnavailable);
  };
};

interface Range {
  readonly fromInclusive: number;
  readonly toExclusive: number;
  readonly hash: string | undefined;
  readonly signal: AbortSignal;
}

const count = async (
  store: EventStore,
  missing: MissingJournals,
  { fromInclusive, toExclusive, hash, signal }: Range,
): Promise<CountedAudio> => {
  const sounds = new Map<string, Counted>();
  let [served, fromCache, isComplete, asOfPosition] = [0, 0, true, 0];
  const add = ({ data }: ServedEvent): void => {
    const time = Date.parse(data.at);
    if (time < fromInclusive || time >= toExclusive) return;
    for (const serving of expandServings(data)) {
      if (hash !== undefined && serving.hash !== hash) continue;
      served += 1;
      if (serving.cached !== "miss") fromCache += 1;
      const known = sounds.get(serving.hash);
      if (!known && sounds.size >= maxCounted) {
        isComplete = false;
        continue;
      }
      const counted = known ?? newCount(serving, data.at);
      if (!known) sounds.set(serving.hash, counted);
      counted.served += 1;
      counted.characters += serving.characters;
      counted.from[serving.cached] += 1;
      counted.lastAt = data.at;
    }
  };
  const fromExclusive = await positionBefore(store, fromInclusive);
  const isPast = await readPeriodEnd(store, toExclusive);
  const options = {
    prefixes: [journalPrefix],
    ...(fromExclusive !== undefined && { fromExclusive }),
    signal,
  };
  for await (const batch of readBatches(store, options)) {
    for await (const event of inTimeSlices(batch.events, signal)) {
      if (isOfType<ServedEvent, RecordedEvent>(event, ["SynthesesServed"])) add(event);
    }
    asOfPosition = Math.max(asOfPosition, batch.position);
    if (isPast(batch.events.at(-1))) break;
  }
  signal.throwIfAborted();
  await missing.requireNone({ fromInclusive, toExclusive });
  return { sounds, served, fromCache, isComplete, asOfPosition };
};

const newCount = ({ hash, engine, voice, lang, format }: ServedAudio, at: string): Counted => ({
  hash,
  engine,
  voice,
  lang,
  format,
  served: 0,
  characters: 0,
  from: { miss: 0, coalesced: 0, memory: 0, store: 0 },
  firstAt: at,
  lastAt: at,
});
