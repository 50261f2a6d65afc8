import { Conflict } from "../../domain/errors.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import type { ClockCorrected, ClockEvent } from "../../domain/ledger/journal/clock-corrections.ts";
import { journalStream, type ServedEvent } from "../../domain/ledger/journal/journal.ts";
import { logStream } from "../../domain/log-format.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { CommandHandler } from "../../eventstore/command-handler.ts";
import { type EventStore, eventTime, type RecordedEvent } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import { readCorrections } from "../../ledger/journal/clock-corrections.ts";
import { journalsSince } from "../../ledger/journal/journal-registry.ts";
import { readLastSealEvent } from "../../ledger/proof/sealed-log.ts";
import type { CommandContext } from "../execute-command.ts";
import type { ClockCheck } from "./clock-check.ts";

export interface AcceptedClock {
  /** The time that this machine's clock showed. ISO 8601, UTC. */
  readonly accepted: string;
  /** Events that were recorded earlier with later times. Absent if there are none. */
  readonly corrected?: ClockCorrected & { readonly servings: number };
}

/**
 * Accepts this machine's clock, because an operator says that it is right. Appends `ClockCorrected`
 * if the log has later times, else `ClockAccepted`. Then all instances whose clocks agree with it
 * record again.
 * @throws {Conflict} if the event store has another clock, which differs
 * @throws {Unavailable}
 */
export type AcceptClock = (context: CommandContext) => Promise<AcceptedClock>;

interface AcceptClockOptions {
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly clockCheck: Pick<ClockCheck, "accept" | "isWrong" | "milliseconds" | "logTime">;
  /** This machine's clock, right or wrong. */
  readonly machineClock: () => EpochMs;
  /** False if the event store uses the clock of its server. */
  readonly isStoreEmbedded: boolean;
}

/** Instances still record while their clocks are off by no more than this. */
const toleranceMs = 60_000;

const decider = { initial: () => undefined, evolve: () => undefined };

export const createAcceptClock =
  ({ store, handler, clockCheck, machineClock, isStoreEmbedded }: AcceptClockOptions): AcceptClock =>
  async ({ actor }) => {
    const now = machineClock();
    if (!isStoreEmbedded && Math.abs(clockCheck.milliseconds ?? 0) > toleranceMs) {
      throw new Conflict("The event store's server has another time: correct its clock or this machine's.");
    }
    const accepted = new Date(now).toISOString();
    const limit = new Date(now + toleranceMs).toISOString();
    const logTime = new Date(clockCheck.logTime || now).toISOString();
    const isWrong = clockCheck.isWrong();
    const later = await readLaterTimes(store, limit, logTime).catch(throwUnavailable);
    clockCheck.accept(now); // before the append: the event is stored with this time
    const append = (event: ClockEvent, source?: "log" | "corrected") =>
      handler.execute(decider, logStream, () => [event], { actor, ...(source && { clock: source }) });
    if (later) {
      const { servings, ...corrected } = { ...later, at: accepted };
      await append({ type: "ClockCorrected", data: corrected }, "corrected");
      return { accepted, corrected: { ...corrected, servings } };
    }
    const at = isWrong ? logTime : accepted;
    await append({ type: "ClockAccepted", data: { accepted, at } }, isWrong ? "log" : undefined);
    return { accepted };
  };

/**
 * Finds the events since the last correction whose times are later than `limit`, which is a minute
 * from now.
 */
const readLaterTimes = async (store: EventStore, limit: string, logTime: string) => {
  const corrected = (await readCorrections(store)).at(-1)?.position ?? -1;
  const isLater = (event: RecordedEvent): boolean => event.position > corrected && eventTime(event) > limit;
  const times = [logTime];
  const seal = await readLastSealEvent(store);
  if (seal && isLater(seal)) times.push(eventTime(seal));
  const journals: ClockCorrected["journals"][number][] = [];
  let servings = 0;
  const known = await journalsSince(store, ({ data, position }) => data.at <= limit || position <= corrected);
  for (const journal of known) {
    let range: (typeof journals)[number] | undefined;
    for await (const event of store.readStream(journalStream(journal), { direction: "backwards" })) {
      if (!isLater(event)) break;
      // The end of a journal has the time of its last entries.
      if (event.type === "JournalClosed" || event.type === "JournalPosted") continue;
      times.push(eventTime(event));
      range = { journal, from: event.revision, through: range?.through ?? event.revision };
      if (isOfType<ServedEvent, RecordedEvent>(event, ["SynthesesServed"]))
        servings += event.data.requestIds.length;
    }
    if (range) journals.push(range);
  }
  const until = times.reduce((latest, time) => (time > latest ? time : latest));
  return until > limit ? { until, journals, servings } : undefined;
};
