import { isOfType } from "../../domain/event-shapes.ts";
import type { ClockCorrected, ClockEvent } from "../../domain/ledger/journal/clock-corrections.ts";
import { logStream } from "../../domain/log-format.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";

/**
 * A clock was ahead: events before the position may have times from `at` up to `until` that were
 * still in the future when they were recorded.
 */
interface Correction {
  readonly position: number;
  readonly at: number;
  readonly until: number;
  readonly data: ClockCorrected;
}

/**
 * The corrections of wrong clocks, in the order of the log. Their stream is short.
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
