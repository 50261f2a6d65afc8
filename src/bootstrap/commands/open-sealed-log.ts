import { randomUUID } from "node:crypto";
import { obtainEventLogId } from "../../application/log-format.ts";
import type { Settings } from "../../settings/read-settings.ts";
import { composeClock, type Machine } from "../clock/service-clock.ts";
import { openEventStore, requireMeasuredClock, startTimeoutMs } from "../event-log/open-event-store.ts";
import { composeSeals } from "../event-log/seals.ts";
import { createLazyCipher, obtainMasterKeys } from "../master-key.ts";

/**
 * Opens the log, and what seals it, for one command.
 * @throws {BadSetting}
 * @throws {Unavailable}
 */
export const openSealedLog = async (settings: Settings, machine?: Machine) => {
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
  const { seals, signer, formerSigners } = await composeSeals(settings, sealed);
  const running = opened.move();
  return {
    ...{ store: events, handler: startHandler, clock, seals, signer, formerSigners },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};
