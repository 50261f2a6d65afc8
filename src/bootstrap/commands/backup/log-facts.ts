import type { Deletions } from "../../../application/backup/audio-list.ts";
import type { LogFacts } from "../../../application/backup/manifest.ts";
import { isOfType } from "../../../domain/event-shapes.ts";
import type { SealEvent } from "../../../domain/ledger/seals/seal.ts";
import { logDecider, logStream } from "../../../domain/log-format.ts";
import { type AudioEvent, audioStream } from "../../../domain/synthesis/audio-events.ts";
import type { EventStore, RecordedEvent } from "../../../eventstore/event-store.ts";
import { lastPosition } from "../../../eventstore/sqlite/copy-database.ts";
import { readLastSealEvent, readSealedEvents } from "../../../ledger/proof/sealed-log.ts";
import type { Settings } from "../../../settings/read-settings.ts";
import { openEventStore } from "../../event-log/open-event-store.ts";
import { readInstallationKeys } from "../../master-key.ts";

type LogSettings = Pick<Settings, "dataDir" | "eventStore" | "streamPrefix">;

/**
 * Reads what a manifest says about a log, and what `read` reads. `read` is given the log, with
 * malformed events as stored.
 * @throws {BadSetting}
 */
export const readLogFacts = async <T>(
  settings: LogSettings,
  read: (events: EventStore) => Promise<T>,
): Promise<{ readonly facts: LogFacts; readonly result: T }> => {
  const { eventStore } = settings;
  const { events, startHandler } = await openEventStore(settings, { clock: Date.now, readOnly: true });
  try {
    const result = await read(events);
    const { state } = await startHandler.execute(logDecider, logStream, () => [], { actor: "system" });
    if (state.logId === undefined) throw new Error("the log has not begun: start the service first");
    const { masterKeyId = null } = await readInstallationKeys(startHandler);
    const position =
      eventStore.kind === "sqlite"
        ? await lastPosition(eventStore.path)
        : await lastSealedPosition(events, (await readNewestSeal(events))?.position);
    // It is read after the position: no seal up to there is later.
    const newestSeal = await readNewestSeal(events);
    return { facts: { logId: state.logId, position, masterKeyId, newestSeal }, result };
  } finally {
    await events.close();
  }
};

const readNewestSeal = async (events: EventStore): Promise<LogFacts["newestSeal"]> => {
  const seal = await readLastSealEvent(events);
  return seal && isSeal(seal) ? factsOf(seal) : null;
};

/** A server does not say where its log ends. */
const lastSealedPosition = async (events: EventStore, fromExclusive = -1): Promise<number> => {
  let position = fromExclusive;
  for await (const event of readSealedEvents(events, { fromExclusive, journals: true }))
    position = event.position;
  return position;
};

const isSeal = (event: RecordedEvent): event is RecordedEvent & SealEvent =>
  isOfType<SealEvent, RecordedEvent>(event, ["Sealed"]);

const factsOf = ({ data: { position, at, note } }: SealEvent) => ({ position, at, note });

/** Reads which audio operators have deleted. */
export const readDeletions = async (events: EventStore): Promise<Deletions> => {
  const deletions = new Map<string, number>();
  for await (const event of events.readStream(audioStream)) {
    if (isOfType<AudioEvent, RecordedEvent>(event, ["AudioDeleted"]))
      deletions.set(event.data.hash, Date.parse(event.data.at));
  }
  return deletions;
};
