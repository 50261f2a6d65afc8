import { afterErrors, retry } from "../async/retry.ts";
import { backgroundTime } from "../async/time.ts";
import { masterKeyDecider, masterKeyStream, objectToLoss } from "../domain/accounts/master-key.ts";
import { Unavailable } from "../domain/errors.ts";
import { isOfType } from "../domain/event-shapes.ts";
import type { ClockEvent } from "../domain/ledger/journal/clock-corrections.ts";
import { formatRefusal, logStream } from "../domain/log-format.ts";
import { audioStream } from "../domain/synthesis/audio-events.ts";
import { EventStoreLost } from "../eventstore/event-store.ts";
import { type Following, follow } from "../eventstore/follow-events.ts";
import type { Core, Runtime } from "./core.ts";

interface FollowOthersOptions {
  readonly forget: (hash: string) => void;
  readonly onFatal: (error: Error) => void;
  readonly onError: Runtime["onError"];
}

/**
 * Every instance forgets what an operator deletes on any of them, and objects if a master key is
 * reported as lost that it has. It stops when a later version changes the log's format, when
 * another master key replaces a lost one, or when the log's file is removed or replaced. `keyIds`:
 * the ids of this instance's master keys.
 */
export const followOthers = (
  core: Core,
  keyIds: readonly string[],
  { forget, onFatal, onError }: FollowOthersOptions,
): Following => {
  const stop = (refusal: Error): void => {
    core.refuseAppends(refusal);
    onFatal(refusal);
  };
  const closed = new AbortController();
  const following = follow({
    store: core.store,
    prefixes: [audioStream, logStream, masterKeyStream],
    onBatch: ({ events }) => {
      for (const event of events) {
        const { type, data } = event;
        if (type === "AudioDeleted") forget((data as { hash: string }).hash);
        // An operator's statement about one machine's clock holds for every machine whose clock
        // agrees with it.
        if (isOfType<ClockEvent, typeof event>(event, ["ClockAccepted", "ClockCorrected"]))
          core.clockCheck.accept(Date.parse("accepted" in event.data ? event.data.accepted : event.data.at));
        const refusal = formatRefusal({ type, data });
        if (refusal) stop(refusal);
      }
      if (!events.some(({ type }) => lossTypes.includes(type))) return;
      checkMasterKey(core, keyIds, stop, closed.signal).catch((error: unknown) => {
        if (!closed.signal.aborted) onError("the report of a lost master key could not be checked", error);
      });
    },
    onError: (error) => {
      if (error instanceof EventStoreLost) onFatal(error);
      else onError("what other instances have changed cannot be read", error);
    },
    time: backgroundTime,
  });
  const close = (): void => {
    closed.abort();
    following.close();
  };
  return { ...following, close };
};

const lossTypes: readonly string[] = ["MasterKeyLossReported", "MasterKeyReplaced"];
const afterFailures = afterErrors((error) => error instanceof Unavailable, {
  firstMs: 100,
  maxMs: 2_000,
});

/** The batch may be an old one: the current state decides. Waits until the store is available. */
const checkMasterKey = async (
  { handler, clock, instance }: Core,
  keyIds: readonly string[],
  stop: (refusal: Error) => void,
  signal: AbortSignal,
): Promise<void> => {
  const { state } = await retry({ time: backgroundTime, delayAfter: afterFailures, signal }, () =>
    handler.execute(
      masterKeyDecider,
      masterKeyStream,
      (keys) =>
        keys.loss && keyIds.includes(keys.loss.keyId)
          ? objectToLoss(keys, { ...keys.loss, instance, at: new Date(clock()).toISOString() })
          : [],
      { actor: "system" },
    ),
  );
  const { replaced, masterKeyId = "" } = state;
  if (replaced && !keyIds.includes(masterKeyId)) {
    stop(
      new Error(
        `the lost master key ${replaced.lostKeyId} was replaced by ${masterKeyId}: start with that key as MASTER_KEY`,
      ),
    );
  }
};
