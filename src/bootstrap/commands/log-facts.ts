import type { LogFacts } from "../../application/backup/manifest.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import { type SealEvent, sealsStream } from "../../domain/ledger/seals/seal.ts";
import { logDecider, logStream } from "../../domain/log-format.ts";
import { type EventStore, type RecordedEvent, readLastEvent } from "../../eventstore/event-store.ts";
import { lastPosition } from "../../eventstore/sqlite/copy-database.ts";
import { readLedgerEnd } from "../../ledger/journal/journal-registry.ts";
import type { Settings } from "../../settings/read-settings.ts";
import { openEventStore } from "../event-log/open-event-store.ts";
import { readInstallationKeys } from "../master-key.ts";

/**
 * Reads what a manifest says about a log. `check` is given the log, with malformed events as
 * stored.
 * @throws {BadSetting}
 */
export const readLogFacts = async (
  settings: Pick<Settings, "dataDir" | "eventStore" | "streamPrefix">,
  check: (events: EventStore) => Promise<unknown> = async () => {},
): Promise<LogFacts> => {
  const { eventStore } = settings;
  const { events, startHandler } = await openEventStore(settings, { clock: Date.now, readOnly: true });
  try {
    await check(events);
    const { state } = await startHandler.execute(logDecider, logStream, () => [], { actor: "system" });
    if (state.logId === undefined) throw new Error("the log has not begun: start the service first");
    const { masterKeyId = null } = await readInstallationKeys(startHandler);
    const seal = await readLastEvent(events, sealsStream);
    const position =
      eventStore.kind === "sqlite" ? await lastPosition(eventStore.path) : await readLedgerEnd(events);
    return {
      logId: state.logId,
      position: Math.max(position, seal?.position ?? 0),
      masterKeyId,
      newestSeal: seal && isSeal(seal) ? factsOf(seal) : null,
    };
  } finally {
    await events.close();
  }
};

const isSeal = (event: RecordedEvent): event is RecordedEvent & SealEvent =>
  isOfType<SealEvent, RecordedEvent>(event, ["Sealed"]);

const factsOf = ({ data: { position, at, note } }: SealEvent) => ({ position, at, note });
