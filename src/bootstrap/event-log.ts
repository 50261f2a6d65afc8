import { randomBytes } from "node:crypto";
import { createSealing, type Sealing } from "../application/accounts/sealing.ts";
import {
  masterKeyDecider,
  masterKeyStream,
  recognizeMasterKey,
  UnknownMasterKey,
} from "../domain/accounts/master-key.ts";
import { type CommandHandler, createCommandHandler } from "../eventstore/command-handler.ts";
import type { EventStore } from "../eventstore/event-store.ts";
import { validatedEventStore } from "../eventstore/validated-event-store.ts";
import { BadSetting, type Settings, withSettingName } from "../settings.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { deriveKeys, obtainMasterKeys } from "./master-key.ts";
import { makePrivateDirectory } from "./private-directory.ts";
import { openEventStore } from "./stores.ts";

/** The log as it is, and a command handler that waits for a store which is just starting. */
export interface OpenLog {
  readonly events: EventStore;
  readonly startHandler: CommandHandler;
}

/** A start may wait longer for the event store than a request. */
export const startTimeoutMs = 30_000;

/** Opens the log, beside other processes that have it open. @throws {BadSetting} */
export const openLog = async (
  settings: Settings,
  {
    clock,
    readOnly,
    telemetry,
  }: { readonly clock: () => number; readonly readOnly: boolean; readonly telemetry: Telemetry },
): Promise<OpenLog> => {
  if (!readOnly) await withSettingName("DATA_DIR", makePrivateDirectory(settings.dataDir));
  const events = telemetry.eventStore(await openEventStore(settings, { readOnly }));
  const store = validatedEventStore(events);
  return { events, startHandler: createCommandHandler({ store, clock, deadlineMs: startTimeoutMs }) };
};

/**
 * Obtains the keys when they are first needed, and checks them against the log: what only reads makes none.
 * @throws {BadSetting} from the promise, without the master key that the log records
 */
export const createLazySealing = (
  settings: Settings,
  handler: CommandHandler,
  clock: () => number,
): (() => Promise<Sealing>) => {
  let sealing: Promise<Sealing> | undefined;
  const open = async (): Promise<Sealing> => {
    const keys = deriveKeys(await obtainMasterKeys(settings), "credentials");
    const opened = createSealing({ keys, random: randomBytes });
    const at = new Date(clock()).toISOString();
    const recognize = (recorded: string | undefined) => recognizeMasterKey(recorded, opened.keyIds, at);
    try {
      await handler.execute(masterKeyDecider, masterKeyStream, recognize, { actor: "system" });
    } catch (error) {
      if (error instanceof UnknownMasterKey) throw new BadSetting(`MASTER_KEY: ${error.message}`);
      throw error;
    }
    return opened;
  };
  return () => {
    sealing ??= open();
    return sealing;
  };
};
