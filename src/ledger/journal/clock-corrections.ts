import { isOfType } from "../../domain/event-shapes.ts";
import type { ClockCorrected, ClockEvent } from "../../domain/ledger/journal/clock-corrections.ts";
import { logStream } from "../../domain/log-format.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";

/**
 * Events before the position may have times from `at` up to `until`, although they were recorded
 * before these times.
 */
interface Correction {
  readonly position: number;
  readonly at: number;
  readonly until: number;
  readonly data: ClockCorrected;
}

/**
 * The corrections of wrong clocks in the log, the first one first. The stream has a few events.
 * @throws {EventStoreUnavailable}
 */
export const readCorrections = async (store: Pick<EventStore, "readStream">): Promise<Correction[]> => {
  const corrections: Correction[] = [];
  for await (const event of store.readStream(logStream)) {
    if (!isOfType<ClockEvent, RecordedEvent>(event, ["ClockCorrected"]) || !("until" in event.data)) continue;
    const { position, data } = event;
    corrections.push({ position, at: Date.parse(data.at), until: Date.parse(data.until), data });
  }
  return corrections;
};
