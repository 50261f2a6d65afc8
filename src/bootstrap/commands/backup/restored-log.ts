import type { Deletions } from "../../../application/backup/audio-list.ts";
import { BadBackup, compareLog, type LogFacts, type Manifest } from "../../../application/backup/manifest.ts";
import { operator } from "../../../cli/command.ts";
import type { VerifiedLog } from "../../../cli/commands/backup.ts";
import { isOfType } from "../../../domain/event-shapes.ts";
import { type SealEvent, sealsStream } from "../../../domain/ledger/seals/seal.ts";
import { type NoteVerifier, openNote, parseCheckpoint } from "../../../domain/ledger/seals/seal-note.ts";
import { type LogEvent, type LogRestored, logDecider, logStream } from "../../../domain/log-format.ts";
import { pauseWebhooks, webhooksDecider, webhooksStream } from "../../../domain/webhooks/webhooks.ts";
import type { EventStore, RecordedEvent } from "../../../eventstore/event-store.ts";
import { verifyLog } from "../../../ledger/proof/audit-verify.ts";
import { readSealedEvents } from "../../../ledger/proof/sealed-log.ts";
import { createSeals } from "../../../ledger/proof/seals.ts";
import type { Settings } from "../../../settings/read-settings.ts";
import { openEventStore } from "../../event-log/open-event-store.ts";
import { parseSealKeys, recordSealKeys, sealSigners } from "../../event-log/seals.ts";
import { type MasterKeys, masterKeyIdOf } from "../../master-key.ts";
import { readDeletions, readLogFacts } from "./log-facts.ts";

/** The keys of who restores a log. */
export interface RestoreKeys {
  /** Undefined if nobody has the log's master key. */
  readonly masterKeys: MasterKeys | undefined;
  /** Verifier keys that were named on the command line. */
  readonly given: readonly NoteVerifier[];
  /** True if seals may be signed with keys of the backup only. */
  readonly withoutKey: boolean;
  /** True if the log may have no seal. */
  readonly withoutSeal: boolean;
}

export interface CheckedLog {
  readonly facts: LogFacts;
  readonly deletions: Deletions;
  readonly verified: VerifiedLog;
  /** The notes of all seals. */
  readonly seals: readonly string[];
  /** The verifier keys of the backup that have signed seals of the log. */
  readonly usedKeys: readonly string[];
}

/**
 * Verifies a log as `audit verify` does. The keys in the manifest prove nothing, because whoever
 * changes the log can change them. They are accepted for earlier seals: the newest one covers them,
 * and must be signed with a key of who restores.
 * @throws {BadBackup} {NotGenuine} {BadSetting}
 */
export const checkLog = async (
  settings: Settings,
  manifest: Manifest,
  { masterKeys, given, withoutKey, withoutSeal }: RestoreKeys,
): Promise<CheckedLog> => {
  const own = sealSigners(manifest.logId, { ...settings, masterKeys }).map(({ verifierKey }) => verifierKey);
  const trusted = [...given, ...parseSealKeys(own)];
  const keys = [...trusted, ...parseSealKeys(manifest.sealKeys)];
  const read = async (events: EventStore) => {
    const deletions = await readDeletions(events);
    const seals: string[] = [];
    for await (const event of events.readStream(sealsStream))
      if (isOfType<SealEvent, RecordedEvent>(event, ["Sealed"])) seals.push(event.data.note);
    const newest = seals.at(-1);
    if (newest === undefined && given.length > 0)
      throw new BadBackup("the log has no seal that a key can verify: restore it without --key");
    if (newest !== undefined && trusted.length > 0 && openNote(newest, trusted) === undefined)
      throw new BadBackup(
        "the newest seal is signed with none of your keys: the backup was changed, or its seals have another key. Set SEAL_KEY, or name the key with --key",
      );
    if (newest === undefined && !withoutSeal)
      throw new BadBackup(
        "the log has no seal, so nothing shows whether it was changed: repeat with --without-seal only if no service had started on it before the backup",
      );
    if (newest !== undefined && trusted.length === 0 && !withoutKey)
      throw new BadBackup(
        "the seals are signed with none of your keys: name the log's key with --key, or restore without it by --without-key",
      );
    const usedKeys = manifest.sealKeys.filter((key) =>
      seals.some((note) => openNote(note, parseSealKeys([key])) !== undefined),
    );
    const trust = newest === undefined ? "unsealed" : trusted.length > 0 ? "trusted" : "untrusted";
    return { deletions, seals, usedKeys, verified: await verify(events, keys, trust) };
  };
  const { facts, result } = await readLogFacts(settings, read);
  return { facts, ...result };
};

const verify = async (
  events: EventStore,
  keys: readonly NoteVerifier[],
  seals: VerifiedLog["seals"],
): Promise<VerifiedLog> => {
  if (seals !== "unsealed") {
    const { unsealed, missingArchives } = await verifyLog(events, { keys });
    return { seals, unsealed, missingArchives };
  }
  await events.checkIntegrity();
  return { seals, unsealed: undefined, missingArchives: [] };
};

/**
 * Compares a log that a server's own tools have restored with the backup, which was made before the
 * server's. `newKeys`: those that may have replaced the master key of the backup, which is lost.
 * @throws {BadBackup}
 */
export const compareRestoredLog = (
  manifest: Manifest,
  { facts, seals }: CheckedLog,
  newKeys: MasterKeys | undefined,
): void => {
  const { logId, newestSeal } = manifest;
  const isReplaced = newKeys?.some((key) => masterKeyIdOf(key) === facts.masterKeyId) === true;
  const { masterKeyId } = isReplaced ? facts : manifest;
  compareLog({ ...manifest, ...facts, logId, masterKeyId }, facts);
  if (newestSeal && !seals.includes(newestSeal.note))
    throw new BadBackup(
      `the log lacks the newest seal of the backup, of ${newestSeal.at}: it was backed up before ${manifest.takenAt}, and needs an earlier backup`,
    );
};

export interface RecordedRestore {
  readonly pausedWebhooks: number;
  /** False if there is no key to seal it with. */
  readonly isSealed: boolean;
}

/**
 * Records the restore in the log, before any process uses it, pauses the webhooks, and seals both.
 * An interrupted record is continued.
 * @throws {BadBackup} if the restore is recorded and sealed already
 * @throws if another process uses the log
 */
export const recordRestore = async (
  settings: Settings,
  {
    manifest,
    log,
    masterKeys,
    at: now,
  }: {
    readonly manifest: Manifest;
    readonly log: CheckedLog;
    readonly masterKeys: MasterKeys | undefined;
    readonly at: string;
  },
): Promise<RecordedRestore> => {
  const { facts, usedKeys } = log;
  const clock = () => Date.parse(now);
  const { events, startHandler } = await openEventStore(settings, { clock, readOnly: false });
  try {
    const { position, newestSeal } = facts;
    const seal = newestSeal && { seal: newestSeal.note };
    const data = { position, takenAt: manifest.takenAt, ...seal, at: now };
    const { state } = await startHandler.execute(logDecider, logStream, () => [], operator);
    const recorded = await findRecord(events, state.restored, { manifest, now });
    const { at } = recorded ?? data;
    if (newestSeal && statesRestore(newestSeal.note, at))
      throw new BadBackup(`the log records already that it was restored from this backup, at ${at}`);
    if (!recorded) {
      const append = (): LogEvent[] => [{ type: "LogRestored", data }];
      await startHandler.execute(logDecider, logStream, append, operator);
      // A seal that states a restore which is not in place would make the log not genuine.
      if (!(await isInPlace(events, data)))
        throw new Error("another process writes to the log: stop all instances, and repeat the command");
    }
    const pause = (webhooks: Parameters<typeof pauseWebhooks>[0]) => pauseWebhooks(webhooks, at);
    const paused = await startHandler.execute(webhooksDecider, webhooksStream, pause, operator);
    const signers = sealSigners(facts.logId, { ...settings, masterKeys });
    const own = signers.map(({ verifierKey }) => verifierKey);
    const keys = parseSealKeys(await recordSealKeys(settings.dataDir, [...own, ...usedKeys]));
    const [signer, ...formerSigners] = signers;
    // The caller has compared the clock with the time of the backup. No other process uses the log.
    const requireMeasuredClock = async () => {};
    if (signer)
      await createSeals({
        store: events,
        signer,
        formerSigners,
        keys,
        clock,
        requireMeasuredClock,
      }).sealRestored(at, operator);
    return { pausedWebhooks: paused.events.length, isSealed: signer !== undefined };
  } finally {
    await events.close();
  }
};

/** Returns the restore from this backup that an interrupted command has recorded. */
const findRecord = async (
  events: EventStore,
  restored: LogRestored["data"] | undefined,
  { manifest: { takenAt, position }, now }: { readonly manifest: Manifest; readonly now: string },
): Promise<LogRestored["data"] | undefined> => {
  if (restored?.takenAt !== takenAt || restored.position < position || restored.at > now) return undefined;
  return (await isInPlace(events, restored)) ? restored : undefined;
};

/** True if the restore is the first thing that was recorded after the end of the restored log. */
const isInPlace = async (events: EventStore, { position, at }: LogRestored["data"]): Promise<boolean> => {
  for await (const event of readSealedEvents(events, { fromExclusive: position, journals: true }))
    return isOfType<LogRestored, RecordedEvent>(event, ["LogRestored"]) && event.data.at === at;
  return false;
};

/** True if the checkpoint says it. That it is genuine was verified before. */
const statesRestore = (note: string, at: string): boolean =>
  parseCheckpoint(note.slice(0, note.lastIndexOf("\n\n") + 1))?.restored === at;
