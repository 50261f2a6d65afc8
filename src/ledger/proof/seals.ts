import { afterErrors, retry } from "../../async/retry.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { equalBytes, fromHex, toHex } from "../../domain/bytes.ts";
import { Unavailable } from "../../domain/errors.ts";
import { isWellFormed } from "../../domain/event-shapes.ts";
import { appendLeaf, emptyTree, type MerkleTree, rootOf } from "../../domain/ledger/seals/merkle.ts";
import type { NoteSigner } from "../../domain/ledger/seals/note-signer.ts";
import { provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import {
  eventLeaf,
  journalLeaf,
  type Sealed,
  sealLeaf,
  sealsStream,
} from "../../domain/ledger/seals/seal.ts";
import {
  checkpointText,
  type NoteVerifier,
  openNote,
  parseCheckpoint,
} from "../../domain/ledger/seals/seal-note.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  type EventMetadata,
  type EventStore,
  type RecordedEvent,
  readEvent,
  readLastEvent,
  WrongExpectedRevision,
} from "../../eventstore/event-store.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import { readLedgerEnd } from "../journal/journal-registry.ts";
import { readJournalHeads, readLastSealEvent, readSealedEvents } from "./sealed-log.ts";

interface RecordedSeal {
  /** The seal's number, from 0: its revision in the stream `seals`. */
  readonly revision: number;
  readonly data: Sealed;
}

export interface Seals {
  /**
   * Seals the log up to its current end. Reads only what follows the last seal.
   * @throws {Unavailable} when the event store cannot be read or written, or this machine's clock
   * is wrong
   * @throws {BadSeal} when the last seal is not genuine: nothing may continue it
   */
  seal(metadata: EventMetadata): Promise<RecordedSeal>;
  /**
   * Seals the log unless that was done within the interval, by any process. Resolves with the time
   * of the last seal.
   * @throws as `seal` does, and the signal's reason
   */
  sealIfDue(intervalMs: number, metadata: EventMetadata, signal?: AbortSignal): Promise<EpochMs>;
}

/** The last seal in the log is malformed, damaged, or signed with an unknown key. */
export class BadSeal extends Error {
  override readonly name = "BadSeal";
}

interface SealsOptions {
  /** The store without replacements, because malformed events are sealed too. */
  readonly store: EventStore;
  readonly signer: NoteSigner;
  /** The keys with which earlier seals may be signed, including that of `signer`. */
  readonly keys: readonly NoteVerifier[];
  readonly clock: () => EpochMs;
  /**
   * Rejects with {Unavailable} if this machine's clock may be wrong: a seal with a future time
   * would delay all later seals.
   */
  readonly requireMeasuredClock: () => Promise<void>;
  /** Measures the delays after a conflict. Default: real time. */
  readonly time?: Time;
}

/**
 * The clocks of instances differ by less than this. A seal that is further in the future was made
 * with a wrong clock.
 */
const wrongMs = 2 * 60_000;
/** Other processes may seal at the same time. */
const afterConflicts = afterErrors((error) => error instanceof WrongExpectedRevision, {
  firstMs: 20,
  maxMs: 1_000,
  maxAttempts: 10,
});

export const createSeals = ({
  store,
  signer,
  keys,
  clock,
  requireMeasuredClock,
  time = systemTime,
}: SealsOptions): Seals => {
  const attempt = async (metadata: EventMetadata, signal?: AbortSignal): Promise<RecordedSeal> => {
    await requireMeasuredClock();
    const { last, end } = await readSeals(store, keys);
    const lastTime = last ? Date.parse(last.data.at) : 0;
    const now = clock();
    const at = new Date(lastTime - now > wrongMs ? now : Math.max(now, lastTime)).toISOString();
    const data = await prepareSeal({ store, signer, signal }, last, { seal: end + 1, at });
    signal?.throwIfAborted();
    const event = { id: uuidv7(clock()), type: "Sealed", data, metadata };
    const { revision } = await store.append(sealsStream, [event], end < 0 ? "none" : end);
    return { revision, data };
  };

  return {
    seal: async (metadata) => {
      try {
        return await retry({ delayAfter: afterConflicts, time }, () => attempt(metadata));
      } catch (error) {
        if (error instanceof WrongExpectedRevision) {
          throw new Unavailable("Other processes keep sealing the log.", 1, { cause: error });
        }
        throw toUnavailable(error);
      }
    },
    sealIfDue: async (intervalMs, metadata, signal) => {
      try {
        const { last } = await readSeals(store, keys);
        const lastAt = last ? Date.parse(last.data.at) : Number.NEGATIVE_INFINITY;
        const age = clock() - lastAt;
        if (age < intervalMs && age > -wrongMs) return lastAt;
        return Date.parse((await attempt(metadata, signal)).data.at);
      } catch (error) {
        if (error instanceof WrongExpectedRevision) return clock(); // another process sealed the log
        throw toUnavailable(error);
      }
    },
  };
};

interface LastSeal extends RecordedSeal {
  readonly tree: MerkleTree;
}

interface SealsEnd {
  /** Undefined in a new log. */
  readonly last: LastSeal | undefined;
  /** The last revision of the stream `seals`, also if it is another program's; -1: none. */
  readonly end: number;
}

/** @throws {BadSeal} */
const readSeals = async (store: EventStore, keys: readonly NoteVerifier[]): Promise<SealsEnd> => {
  const end = await readLastEvent(store, sealsStream);
  const event = await readLastSealEvent(store);
  // Nothing may begin anew because the seals were removed and other events were left.
  if (end && !event && (await readEvent(store, sealsStream))?.revision !== 0)
    throw new BadSeal("the first events of the stream seals are missing");
  return { last: event && openSeal(event, keys), end: end?.revision ?? -1 };
};

/** @throws {BadSeal} */
const openSeal = (event: RecordedEvent, keys: readonly NoteVerifier[]): LastSeal => {
  const { revision } = event;
  if (!isSealedEvent(event)) throw new BadSeal(`seal ${revision} is malformed`);
  const { data } = event;
  const tree = { size: data.size, edge: data.edge.map(fromHex) };
  const text = openNote(data.note, keys);
  if (text === undefined) {
    throw new BadSeal(`seal ${revision} is not signed with a known key: add its verifier key to seal.pub`);
  }
  const { size, root } = parseCheckpoint(text) ?? {};
  if (size !== tree.size || !root || !equalBytes(root, rootOf(tree))) {
    throw new BadSeal(`seal ${revision} does not have the tree that its note signs`);
  }
  return { revision, data, tree };
};

const isSealedEvent = (event: RecordedEvent): event is RecordedEvent & { readonly data: Sealed } =>
  event.type === "Sealed" && isWellFormed(event);

/**
 * Prepares a seal that continues the last one. Positions are readable in order: when a read has
 * shown one position, a read that starts later misses no event before it. So the streams are read
 * after `readLedgerEnd`, and the journals after both.
 */
const prepareSeal = async (
  { store, signer, signal }: Pick<SealsOptions, "store" | "signer"> & { signal: AbortSignal | undefined },
  last: LastSeal | undefined,
  { seal, at }: { readonly seal: number; readonly at: string },
): Promise<Sealed> => {
  const fromExclusive = last?.data.position ?? -1;
  let position = Math.max(fromExclusive, await readLedgerEnd(store));
  let tree = last?.tree ?? emptyTree;
  for await (const event of readSealedEvents(store, { fromExclusive, signal })) {
    tree = appendLeaf(tree, eventLeaf(provenEvent(event)));
    position = Math.max(position, event.position);
  }
  const known = last?.data.journals ?? [];
  const journals = await readJournalHeads(store, { fromExclusive, known, upTo: position, signal });
  for (const journal of journals) tree = appendLeaf(tree, journalLeaf(journal));
  tree = appendLeaf(tree, sealLeaf(seal, { position, at }));
  const { size, edge } = tree;
  const note = signer.sign(checkpointText({ origin: signer.name, size, root: rootOf(tree) }));
  return { position, journals, size, edge: edge.map(toHex), note, at };
};
