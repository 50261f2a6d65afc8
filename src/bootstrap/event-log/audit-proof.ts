import { randomUUID } from "node:crypto";
import { obtainEventLogId } from "../../application/event-log-id.ts";
import { createClockDifference } from "../../application/health/clock-difference.ts";
import { createAuditExport } from "../../application/usage/proof/audit-export.ts";
import { verifyLog } from "../../application/usage/proof/audit-verify.ts";
import type { AuditProof } from "../../cli/commands/audit-proof.ts";
import type { Settings } from "../../settings.ts";
import { createLazyCipher, obtainMasterKeys } from "../master-key.ts";
import { openEventStore, requireMeasuredClock, startTimeoutMs } from "./open-event-store.ts";
import { readSealKeys } from "./seal-keys.ts";
import { composeSeals } from "./seals.ts";

/** Each command opens the log for itself: verifying an export needs none. */
export const composeAuditProof = (readSettings: () => Settings, clock = Date.now): AuditProof => ({
  exportAudit: async function* (metadata) {
    const settings = readSettings();
    await using opened = new AsyncDisposableStack();
    const clockDifference = createClockDifference({ clock, onWarning: () => {} });
    const options = { clock, readOnly: false, clockDifference, waitMs: startTimeoutMs };
    const { events, startHandler } = await openEventStore(settings, options);
    opened.defer(events.close);
    await createLazyCipher(settings, startHandler, clock)(); // the master key must be the recorded one
    const logId = await obtainEventLogId(startHandler, randomUUID(), new Date(clock()).toISOString());
    const masterKeys = await obtainMasterKeys(settings);
    const requireClock = requireMeasuredClock(events, clockDifference);
    const sealed = { storeAsWritten: events, logId, masterKeys, clock, requireMeasuredClock: requireClock };
    const sealer = await composeSeals(settings, sealed);
    yield* createAuditExport({ store: events, ...sealer })(metadata);
  },
  verifyLog: async (options) => {
    await using opened = new AsyncDisposableStack();
    const { events } = await openEventStore(readSettings(), { clock, readOnly: true });
    opened.defer(events.close);
    return await verifyLog(events, options);
  },
  verifierKeys: () => readSealKeys(readSettings().dataDir),
});
