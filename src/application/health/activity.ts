import type { JournalEvent } from "../../domain/ledger/journal/journal.ts";
import type { AudioSource } from "../../domain/ledger/journal/serving.ts";
import type { EpochMs } from "../../domain/time.ts";

/** The work of this instance in one hour (UTC). */
export interface ActivityHour {
  readonly from: string;
  /** Requests with audio, and their charged characters, by the source of the audio. */
  readonly served: Readonly<Record<AudioSource, Served>>;
  /** Requests that were refused or failed, by error code. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Served {
  readonly requests: number;
  readonly characters: number;
}

/** Counts what this instance does, in memory. */
export interface Activity {
  /** Counts servings that are durable. */
  readonly served: (events: readonly JournalEvent[]) => void;
  readonly refused: (code: string) => void;
  /** The hours in which anything happened, the earliest first. */
  hours(): readonly ActivityHour[];
}

const hourMs = 3_600_000;

/** Bounds the memory. */
const hoursKept = 48;

interface MutableHour {
  readonly served: Record<AudioSource, { requests: number; characters: number }>;
  readonly refused: Record<string, number>;
}

export const createActivity = ({ clock }: { readonly clock: () => EpochMs }): Activity => {
  const hours = new Map<number, MutableHour>();

  const currentHour = (): MutableHour => {
    const number = Math.floor(clock() / hourMs);
    const known = hours.get(number);
    if (known) return known;
    const hour = emptyHour();
    hours.set(number, hour);
    for (const one of hours.keys()) if (one <= number - hoursKept) hours.delete(one);
    return hour;
  };

  return {
    served: (events) => {
      for (const event of events) {
        if (event.type !== "SynthesesServed") continue;
        const { served } = currentHour();
        event.data.cached.forEach((source, index) => {
          served[source].requests += 1;
          served[source].characters += event.data.characters[index] ?? 0;
        });
      }
    },
    refused: (code) => {
      const { refused } = currentHour();
      refused[code] = (refused[code] ?? 0) + 1;
    },
    hours: () =>
      [...hours]
        .sort(([a], [b]) => a - b)
        .map(([number, hour]) => ({
          from: new Date(number * hourMs).toISOString(),
          ...structuredClone(hour),
        })),
  };
};

const emptyHour = (): MutableHour => ({
  served: {
    miss: { requests: 0, characters: 0 },
    coalesced: { requests: 0, characters: 0 },
    memory: { requests: 0, characters: 0 },
    store: { requests: 0, characters: 0 },
  },
  refused: {},
});
