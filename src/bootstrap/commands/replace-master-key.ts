import { randomBytes, randomUUID } from "node:crypto";
import { createCredentialsCipher } from "../../application/accounts/credentials-cipher.ts";
import { createDataKeys } from "../../application/accounts/data-keys.ts";
import { replaceLostKey } from "../../application/accounts/replace-lost-key.ts";
import { readAdminViews } from "../../application/admin/views.ts";
import { createExecuteCommand } from "../../application/execute-command.ts";
import { obtainEventLogId } from "../../application/log-format.ts";
import { systemTime, type Time } from "../../async/time.ts";
import type { ReplaceMasterKey } from "../../cli/commands/master-key.ts";
import { createCommandHandler } from "../../eventstore/command-handler.ts";
import { validatedEventStore } from "../../eventstore/validated-event-store.ts";
import type { Settings } from "../../settings/read-settings.ts";
import { composeClock, type Machine } from "../clock/service-clock.ts";
import { openEventStore, requireMeasuredClock, startTimeoutMs } from "../event-log/open-event-store.ts";
import { composeSeals } from "../event-log/seals.ts";
import { deriveKeys, existingKeyIds, obtainMasterKeys } from "../master-key.ts";

/**
 * Replaces a lost master key. At the end it seals the log, because a new seal key may have to
 * continue seals of a key that is lost, too.
 */
export const composeReplaceMasterKey =
  (
    readSettings: () => Settings,
    {
      machine,
      time = systemTime,
      objectionMs,
    }: { machine?: Machine; time?: Time; objectionMs?: number } = {},
  ): ReplaceMasterKey =>
  async (reason, context) => {
    const settings = readSettings();
    const keyIds = await existingKeyIds(settings);
    await using opened = new AsyncDisposableStack();
    const checked = await composeClock(settings, () => {}, machine);
    const { clock, clockCheck } = checked;
    const options = { clock, readOnly: false, checked, waitMs: startTimeoutMs };
    const { events, startHandler } = await openEventStore(settings, options);
    opened.defer(events.close);
    await events.ping().catch(() => {});
    const store = validatedEventStore(events);
    const handler = createCommandHandler({ store, clock });
    opened.defer(handler.drain);
    const masterKeys = () => obtainMasterKeys(settings, { isRecordedKeyLost: true });
    const views = await readAdminViews(store, { credentials: "all", webhooks: "all" });
    const obtainCipher = async () =>
      createCredentialsCipher({
        keys: deriveKeys(await masterKeys(), "credentials"),
        random: randomBytes,
      });
    const replaced = await replaceLostKey(
      {
        ...views,
        execute: createExecuteCommand({ handler, runner: { waitForPosition: async () => {} } }),
        keyIds,
        obtainCipher,
        dataKeys: createDataKeys({ store: events, cipher: obtainCipher, random: randomBytes, clock }),
        random: randomBytes,
        clock,
        time,
        ...(objectionMs !== undefined && { objectionMs }),
      },
      reason,
      context,
    );
    const sealer = await composeSeals(settings, {
      storeAsWritten: events,
      logId: await obtainEventLogId(startHandler, randomUUID(), new Date(clock()).toISOString()),
      masterKeys: await masterKeys(),
      clock,
      requireMeasuredClock: requireMeasuredClock(events, clockCheck),
      isKeyLost: true,
    });
    const { data } = await sealer.seals.seal(context);
    const { verifierKey } = sealer.signer;
    return { ...replaced, sealKey: verifierKey, hasNewSealKey: data.newKey?.key === verifierKey };
  };
