import type { AuditProof } from "../../cli/commands/audit-proof.ts";
import { createAuditExport } from "../../ledger/proof/audit-export.ts";
import { verifyLog } from "../../ledger/proof/audit-verify.ts";
import type { Settings } from "../../settings/read-settings.ts";
import type { Machine } from "../clock/service-clock.ts";
import { openEventStore } from "../event-log/open-event-store.ts";
import { readSealKeys } from "../event-log/seals.ts";
import { openSealedLog } from "./open-sealed-log.ts";

/** Each command opens the log for itself, because the verification of an export needs no log. */
export const composeAuditProof = (readSettings: () => Settings, machine?: Machine): AuditProof => ({
  exportAudit: async function* (metadata) {
    await using log = await openSealedLog(readSettings(), machine);
    yield* createAuditExport(log)(metadata);
  },
  verifyLog: async (options) => {
    await using opened = new AsyncDisposableStack();
    const { events } = await openEventStore(readSettings(), { clock: Date.now, readOnly: true });
    opened.defer(events.close);
    return await verifyLog(events, options);
  },
  verifierKeys: () => readSealKeys(readSettings().dataDir),
});
