import { isKnownStream, isWellFormed } from "../../domain/event-shapes.ts";
import { requireForm } from "../../domain/ledger/proof/event-check.ts";
import {
  createExportReader,
  isSealLine,
  peekEvent,
  readLines,
} from "../../domain/ledger/proof/export-lines.ts";
import { createLogVerifier, type LogSummary } from "../../domain/ledger/proof/log-verifier.ts";
import { NotGenuine } from "../../domain/ledger/proof/not-genuine.ts";
import { addToPlan, type KeptSeal, type SealPlan } from "../../domain/ledger/proof/seal-check.ts";
import { provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import { isCovered, sealsStream } from "../../domain/ledger/seals/seal.ts";
import type { NoteVerifier } from "../../domain/ledger/seals/seal-note.ts";
import { type EventStore, EventStoreDamaged } from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";

export interface VerifyOptions {
  /** The keys that the auditor has. Those that they endorsed are found in the log. */
  readonly keys: readonly NoteVerifier[];
  /** One of the seals must be this one. */
  readonly kept?: KeptSeal | undefined;
}

export interface VerifiedLog extends LogSummary {
  /**
   * The number of events in streams that are trimmed, which no seal covers: only their form is
   * checked.
   */
  readonly uncovered: number;
}

/**
 * Verifies the log of the event store, up to its current end. `store`: must deliver events as they
 * are stored.
 * @throws {NotGenuine}
 * @throws {Unavailable} when the event store cannot be read
 */
export const verifyLog = async (store: EventStore, options: VerifyOptions): Promise<VerifiedLog> => {
  try {
    await store.checkIntegrity();
    const plan: SealPlan[] = [];
    // A malformed seal counts, too: it is not in the plan, so that the verifier refuses it. An
    // event of another program counts, so that no later seal is verified.
    let lastSeal = -1;
    for await (const event of store.readStream(sealsStream)) {
      addToPlan(plan, event);
      lastSeal = event.revision;
    }
    const verifier = createLogVerifier({ ...options, plan });
    let uncovered = 0;
    for await (const event of readLog(store)) {
      const { stream, revision } = event;
      if (!isKnownStream(stream)) continue;
      const isForeign = verifier.findForeign(event);
      if (!isForeign) requireForm(event, isWellFormed);
      const isLaterSeal = stream === sealsStream && revision > lastSeal;
      if (isLaterSeal) break;
      if (!isCovered(stream)) uncovered += 1;
      else if (isForeign) verifier.addForeign(provenEvent(event));
      else verifier.add(provenEvent(event));
    }
    return { ...verifier.end(), uncovered };
  } catch (error) {
    if (error instanceof EventStoreDamaged) throw new NotGenuine(error.message);
    throw toUnavailable(error);
  }
};

/**
 * Verifies an export. It calls `open` twice, because it needs the positions of all seals before it
 * verifies events: a seal covers what precedes it.
 * @throws {NotGenuine}
 * @throws the errors of `open`
 */
export const verifyExport = async (
  open: () => AsyncIterable<Uint8Array>,
  options: VerifyOptions,
): Promise<LogSummary> => {
  const verifier = createLogVerifier({ ...options, plan: await readPlan(open()) });
  // An export that no accepted key has signed may have a seal of such a key, too.
  const reader = createExportReader(verifier.acceptedKeys, verifier.end);
  for await (const line of readLines(open())) {
    const exported = reader.read(line);
    if (!exported) continue;
    if (verifier.findForeign(exported.event)) verifier.addForeign(exported.event);
    else verifier.add(exported.event);
  }
  reader.end();
  return verifier.end();
};

const readPlan = async (chunks: AsyncIterable<Uint8Array>): Promise<SealPlan[]> => {
  const plan: SealPlan[] = [];
  for await (const line of readLines(chunks)) {
    if (!isSealLine(line)) continue;
    const event = peekEvent(line);
    if (event?.stream === sealsStream) addToPlan(plan, event);
  }
  return plan;
};
