import { allKeys, findKey, keys } from "../../../projections/keys.ts";
import { untilVisible } from "../../application/execute-command.ts";
import { sleep } from "../../async/sleep.ts";
import { backgroundTime } from "../../async/time.ts";
import type { JournalEvent } from "../../domain/ledger/journal/journal.ts";
import { createUsageReader } from "../../ledger/accounts/usage-reader.ts";
import { type OpenLedger, openLedger } from "../../ledger/open-ledger.ts";
import { QuotaThresholds, type QuotaThresholdsOptions } from "../../ledger/quota/quota-thresholds.ts";
import type { Core, Runtime } from "../core.ts";

type OnCrossed = QuotaThresholdsOptions["onCrossed"];

interface LedgerListeners {
  readonly onCrossed: OnCrossed;
  /** Called with the events of this process's journal when they are durable. */
  readonly onRecorded: (events: readonly JournalEvent[]) => void;
}

/** Opens this process's journal, and closes it at shutdown after the last response. */
export const composeLedger = async (
  runtime: Runtime,
  core: Core,
  { onCrossed, onRecorded }: LedgerListeners,
): Promise<OpenLedger> => {
  const { clock, telemetry, resources, shutdownTimeLeft, shared, onError } = runtime;
  const { store, knownEntries, handler, runner, clockCheck, requireMeasuredClock } = core;
  const thresholds = composeThresholds(runtime, core, onCrossed);
  const opened = await openLedger({
    store,
    knownEntries,
    handler,
    clock,
    untilVisible: (position) => untilVisible(runner, position),
    requireCorrectClock: clockCheck.throwIfClockIsWrong,
    requireMeasuredClock,
    apiKeys: () => allKeys(runner.view(keys)).map(({ apiKey }) => apiKey),
    onRecorded: (events) => {
      telemetry.servings(events);
      onRecorded(events);
    },
    onCharged: thresholds.count,
    onOthersRecorded: thresholds.add,
    onFollowing: (fromExclusive) => {
      thresholds.countUnposted(fromExclusive);
      // Reads what other instances have not posted, which reports need, too.
      void thresholds.check();
    },
    onQuotaExceeded: thresholds.recheck,
    onJournal: shared.onJournal,
    processes: shared.count,
    onError,
  });
  resources.defer(() => opened.close(shutdownTimeLeft()));
  resources.defer(async () => {
    await Promise.race([thresholds.close(), sleep(shutdownTimeLeft(), { time: backgroundTime })]);
  });
  return { ...opened, ledger: telemetry.ledger(opened.ledger) };
};

const composeThresholds = (
  { clock, onError }: Runtime,
  { store, knownEntries, handler, runner }: Core,
  onCrossed: OnCrossed,
): QuotaThresholds => {
  const view = runner.view(keys);
  return new QuotaThresholds({
    store,
    handler,
    usage: createUsageReader({ store, known: knownEntries }),
    known: knownEntries,
    quotaOf: (apiKey) => findKey(view, apiKey)?.plan.monthlyCharacters,
    onCrossed,
    clock,
    time: backgroundTime,
    onError,
  });
};
