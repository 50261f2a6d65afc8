import { join } from "node:path";
import type { Logger } from "pino";
import { createExecuteCommand, untilVisible } from "../application/execute-command.ts";
import { createActivity } from "../application/health/activity.ts";
import type { Reports } from "../application/health/combine-reports.ts";
import { createScheduler } from "../async/scheduler/scheduler.ts";
import { backgroundTime } from "../async/time.ts";
import type { PipelineOptions } from "../audio/pipeline/pipeline.ts";
import { beginWith, catalogDecider, catalogStream, seedCatalog } from "../domain/catalog/catalog.ts";
import { voicesToChoose } from "../domain/catalog/natural-voices.ts";
import { releaseSeed } from "../domain/catalog/seed/seed.ts";
import { loadBottleneck } from "../engines/resilience/start-limit.ts";
import { createCommandHandler } from "../eventstore/command-handler.ts";
import { EventStoreLost } from "../eventstore/event-store.ts";
import type { SqliteThreads } from "../eventstore/sqlite/threads.ts";
import { loadBodyParser } from "../http/kernel/json-body.ts";
import { createEventLog } from "../ledger/audit/event-log.ts";
import { scheduleSeals } from "../ledger/proof/seal-schedule.ts";
import type { Settings } from "../settings/read-settings.ts";
import type { superviseHostProcess } from "../subprocess/supervisor.ts";
import { noTelemetry } from "../telemetry/telemetry.ts";
import { composeAccess } from "./access.ts";
import { composeAudioReports, composeErasedAudio } from "./audio-reports.ts";
import type { Machine } from "./clock/service-clock.ts";
import { type Core, composeCore, type Runtime } from "./core.ts";
import { composeLedger } from "./event-log/ledger.ts";
import { startTimeoutMs } from "./event-log/open-event-store.ts";
import { composeSeals } from "./event-log/seals.ts";
import { composeUserProjections } from "./event-log/user-projections.ts";
import { followOthers } from "./follow-others.ts";
import { composeHealth, composeStatus } from "./health.ts";
import { serveHttp } from "./http.ts";
import { obtainMasterKeys } from "./master-key.ts";
import { createErrorLog } from "./observability.ts";
import { sharedPaths } from "./private-directory.ts";
import { createShutdownDeadline } from "./shutdown.ts";
import { composeAudio, openSpeechTools } from "./speech/audio.ts";
import { composeLegacyRemoval, composeRetention } from "./speech/audio-store.ts";
import { composeGallery, scheduleSamples } from "./speech/gallery.ts";
import { reportVoiceChoice } from "./speech/natural-voices.ts";
import { composeSynthesis } from "./speech/synthesis.ts";
import { voiceFiles } from "./speech/voice-files.ts";
import { composeWebhooks } from "./webhooks.ts";
import { startWebsiteReports } from "./website-reports.ts";
import { alone } from "./workers/shared.ts";

export interface Service {
  /** The base URL that it listens on. */
  readonly url: string;
  /** The address of the Wyoming protocol, if it is served. */
  readonly wyomingUrl: string | undefined;
  /** Resolves when the modules are loaded that requests may need but the start does not. */
  readonly loaded: Promise<void>;
  /**
   * Takes over the journal of a process that is known to have ended.
   * @throws {Unavailable}
   */
  recoverJournal(journal: string): Promise<void>;
  /** Resolves with the report of this process, without those of the other workers. */
  report<Kind extends keyof Reports>(kind: Kind): Promise<Reports[Kind]>;
  /** Resolves when this process's views show the position of the log, or after five seconds. */
  untilVisible(position: number): Promise<void>;
  /** Completes the requests in flight, records their usage, then releases all resources. */
  close(): Promise<void>;
}

/** How long a step of the shutdown may take if the log is lost. */
const lostLogMs = 1_000;

/**
 * Starts the parts of the service, each after those that it needs. If a part cannot start, rejects
 * with its error and leaves nothing running.
 *
 * Shutdown is a protocol. Each part defers its end to `resources`, which ends the parts in reverse
 * order, one after the other:
 * 1. Background tasks stop: reports, samples, the removal of legacy audio.
 * 2. Readiness fails. After DRAIN_DELAY_SECONDS, HTTP, WebSockets and Wyoming accept nothing new
 *    and finish what they have begun. Each response is charged before it leaves.
 * 3. Seals and retention stop. Parts of articles that are not spoken are voided.
 * 4. The ledger records what is pending, returns reserved characters and closes its journal. If it
 *    closed the journal earlier, a response would open another one. If it left the journal open,
 *    another instance would have to take it over.
 * 5. No more webhooks are sent; those in flight are repeated by another instance. Requests per
 *    minute are reported a last time.
 * 6. The audio of erased websites is deleted, and the pipeline waits until other audio is stored.
 *    Only then do the helper, which encodes the audio, and the audio store close.
 * 7. Pending commands end, the views stop, and the event log closes last: every step above appends
 *    to it.
 *
 * DRAIN_SECONDS limits steps 2, 4 and 6 together (`shutdownTimeLeft`). If they are not finished by
 * then, they leave the same state as a killed process: others take over the journal, and audio is
 * synthesized again. If the log is lost, nothing can be recorded, and each of these steps has a
 * second.
 */
export const composeService = async (
  settings: Settings,
  log: Logger,
  {
    machine,
    telemetry = noTelemetry,
    shared = alone,
    superviseHelper = shared.superviseHelper,
    threads,
    onFatal = () => {},
  }: Partial<Pick<Runtime, "telemetry" | "shared">> & {
    readonly machine?: Machine;
    /** Starts the process of the speech tools. */
    readonly superviseHelper?: typeof superviseHostProcess;
    /** The threads of the embedded event store, if they have been started. */
    readonly threads?: SqliteThreads | undefined;
    /** Called when the service can record nothing any more. It must then be closed. */
    readonly onFatal?: (error: Error) => void;
  } = {},
): Promise<Service> => {
  await using resources = new AsyncDisposableStack();
  const drainTimeLeft = createShutdownDeadline(settings.drainSeconds * 1_000);
  let isLogLost = false;
  const shutdownTimeLeft = () => (isLogLost ? Math.min(drainTimeLeft(), lostLogMs) : drainTimeLeft());
  const onError = createErrorLog(log);

  const scheduler = createScheduler({
    onStart: telemetry.started,
    ...(shared.openSharedResource && { openShared: shared.openSharedResource }),
  });
  const tools = openSpeechTools(settings, scheduler, { log, resources, superviseHelper });

  // The log, its views and the admin services, and the keys that the log must know.
  const masterKeys = await obtainMasterKeys(settings, { threads });
  const composed = { ...(machine && { machine }), telemetry, scheduler, shared, threads };
  const core = await composeCore(settings, log, composed);
  resources.defer(core.close);
  for (const problem of await sharedPaths([settings.dataDir, join(settings.dataDir, "master.key")]))
    log.warn(`DATA_DIR: ${problem}`);
  const { clock } = core;
  const given = { settings, log, clock, telemetry, ...tools, shared };
  const runtime: Runtime = { ...given, resources, shutdownTimeLeft, onError };
  const cipher = await core.cipher();
  const namingKey = await core.namingKey();
  await addReleaseVoices(core, settings);

  // Audio, and the changes that other instances make to it.
  const onStored: PipelineOptions["onStored"] = (audio) => erasedAudio.noteStored(audio);
  const audio = await composeAudio(runtime, core, namingKey, onStored);
  const audioReports = composeAudioReports(
    runtime,
    core,
    async () => audio.audioStore,
    audio.pipeline.forget,
  );
  const erasedAudio = composeErasedAudio(runtime, core, audioReports);
  const onUnusable = (error: Error): void => {
    isLogLost ||= error instanceof EventStoreLost;
    onFatal(error);
  };
  const others = followOthers(core, cipher.keyIds, {
    forget: (hash) => {
      audio.pipeline.forget(hash);
      erasedAudio.noteDeleted(hash);
    },
    onFatal: onUnusable,
    onError,
  });
  resources.defer(async () => others.close());

  // Authentication, limits, webhooks and the ledger.
  const access = composeAccess(runtime, core, masterKeys);
  const webhooks = composeWebhooks(runtime, core);
  const activity = createActivity({ clock });
  const ledger = await composeLedger(runtime, core, {
    onCrossed: webhooks.queueThresholds,
    onRecorded: activity.served,
  });

  // Voices and synthesis.
  const speech = composeSynthesis(runtime, core, audio, ledger.ledger, access, namingKey);
  const gallery = settings.hasVoiceGallery
    ? composeGallery(runtime, core, audio, speech.catalogOf, namingKey)
    : undefined;
  const isInUse = (name: string) => audio.pipeline.isInUse(name) || (gallery?.hasAudio(name) ?? false);
  const retentionStats = composeRetention(runtime, core, audio.audioStore, isInUse);

  // Proofs, and what the service reports of itself.
  const sealer = await composeSeals(settings, { ...core, masterKeys, clock });
  const sealSchedule = scheduleSeals({ ...sealer, time: backgroundTime, onError });
  resources.defer(sealSchedule.stop);
  await sealSchedule.begin();
  const known = core.knownEntries;
  const eventLog = createEventLog({ store: core.storeAsWritten, known, clock, time: backgroundTime });
  const audioParts = { ...audio, retentionStats };
  const userProjections = await composeUserProjections(runtime);
  const health = composeHealth(runtime, core, audioParts, ledger, sealSchedule, userProjections);
  const status = composeStatus(runtime, core, health, activity);

  // The interfaces, which call everything above.
  const wyoming = settings.wyoming
    ? await (await import("./wyoming.ts")).serveWyoming(runtime, settings.wyoming, { core, access, speech })
    : undefined;
  const application = {
    ...{ core, access, audio, speech, health, status, sealer, audioReports, eventLog, gallery },
    voiceFiles: voiceFiles(core.naturalVoices),
  };
  const url = await serveHttp(runtime, application, wyoming ? [eventLog, wyoming] : [eventLog]);
  telemetry.listening();

  // Background tasks, which begin when requests are served.
  const loaded = loadRest().catch(onFatal);
  if (shared.isFirst) {
    composeLegacyRemoval(runtime, core, audio);
    if (gallery) scheduleSamples(runtime, core, audio, gallery);
    startWebsiteReports(runtime, core, cipher);
    reportVoiceChoice(runtime, core);
  }

  const running = resources.move();
  return {
    url,
    wyomingUrl: wyoming?.url,
    loaded,
    recoverJournal: ledger.recoverJournal,
    report: async (kind) => {
      const reports = {
        health: health.checkOwnHealth,
        status: status.own.showStatus,
        providers: status.own.showProviders,
      };
      return (await reports[kind]()) as never;
    },
    untilVisible: (position) => untilVisible(core.runner, position),
    close: () => running.disposeAsync(),
  };
};

/**
 * Loads the modules that requests may need but the start does not, so that the first request that
 * needs them does not wait. A failure is fatal, as it is at the start.
 */
const loadRest = async (): Promise<void> => {
  for (const load of [loadBodyParser, loadBottleneck]) await load();
};

/**
 * Adds the voices of this release that the catalog lacks. A new installation begins with natural
 * voices, unless a setting says otherwise.
 */
const addReleaseVoices = async (
  { store, runner, clock, urgentTime, naturalVoices: { installed } }: Core,
  { naturalVoices: { choice } }: Settings,
): Promise<void> => {
  const handler = createCommandHandler({ store, clock, deadlineMs: startTimeoutMs });
  const { at, ...note } = await urgentTime();
  const begin = { choice, voices: voicesToChoose((name) => installed.has(name)), at };
  await createExecuteCommand({ handler, runner })(
    catalogDecider,
    catalogStream,
    (state) => [
      ...(choice === "natural" ? beginWith(state, begin) : []),
      ...seedCatalog(state, releaseSeed(), at),
    ],
    { actor: "system", ...note },
  );
};
