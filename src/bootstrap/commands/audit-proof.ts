import { randomUUID } from "node:crypto";
import { obtainEventLogId } from "../../application/log-format.ts";
import type { AuditProof } from "../../cli/commands/audit-proof.ts";
import { createAuditExport } from "../../ledger/proof/audit-export.ts";
import { verifyLog } from "../../ledger/proof/audit-verify.ts";
import type { Settings } from "../../settings/read-settings.ts";
import { composeClock, type Machine } from "../clock/service-clock.ts";
import { openEventStore, requireMeasuredClock, startTimeoutMs } from "../event-log/open-event-store.ts";
import { composeSeals, readSealKeys } from "../event-log/seals.ts";
import { createLazyCipher, obtainMasterKeys } from "../master-key.ts";

/** Each command opens the log for itself, because the verification of an export needs no log. */
export const composeAuditProof = (readSettings: () => Settings, machine?: Machine): AuditProof => ({
  exportAudit: async function* (metadata) {
    const settings = readSettings();
    await using opened = new AsyncDisposableStack();
    const checked = await composeClock(settings, () => {}, machine);
    const { clock, clockCheck } = checked;
    const options = { clock, readOnly: false, checked, waitMs: startTimeoutMs };
    const { events, startHandler } = await openEventStore(settings, options);
    opened.defer(events.close);
    await createLazyCipher(settings, startHandler, clock)(); // the master key must be the recorded one
    const logId = await obtainEventLogId(startHandler, randomUUID(), new Date(clock()).toISOString());
    const masterKeys = await obtainMasterKeys(settings);
    const requireClock = requireMeasuredClock(events, clockCheck);
    const sealed = { storeAsWritten: events, logId, masterKeys, clock, requireMeasuredClock: requireClock };
    const sealer = await composeSeals(settings, sealed);
    yield* createAuditExport({ store: events, ...sealer })(metadata);
  },
  verifyLog: async (options) => {
    await using opened = new AsyncDisposableStack();
    const { events } = await openEventStore(readSettings(), { clock: Date.now, readOnly: true });
    opened.defer(events.close);
    return await verifyLog(events, options);
  },
  verifierKeys: () => readSealKeys(readSettings().dataDir),
});
