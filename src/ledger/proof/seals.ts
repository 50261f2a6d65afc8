import { afterErrors, retry } from "../../async/retry.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { equalBytes, fromHex, toHex } from "../../domain/bytes.ts";
import { Unavailable } from "../../domain/errors.ts";
import { isWellFormed } from "../../domain/event-shapes.ts";
import { introduceKey } from "../../domain/ledger/seals/endorsement.ts";
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
  type Checkpoint,
  checkpointText,
  type NoteVerifier,
  parseCheckpoint,
  parseNote,
  signerOf,
  verifierKeyOf,
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
   * Seals the log if the last seal is of a former key that this process has, so that it endorses
   * the current one before it is removed from the settings.
   * @throws as `seal` does
   */
  handOver(metadata: EventMetadata): Promise<void>;
  /**
   * Seals a log that was restored from a backup at this time, as its `LogRestored` states it.
   * @throws as `seal` does
   */
  sealRestored(restored: string, metadata: EventMetadata): Promise<RecordedSeal>;
  /**
   * Seals the log unless that was done within the interval, by any process. The first call also
   * hands over. Resolves with the time of the last seal.
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
  /** The signers of former keys. They only endorse the key that follows them. */
  readonly formerSigners?: readonly NoteSigner[];
  /** The keys with which earlier seals may be signed, including those of the signers. */
  readonly keys: readonly NoteVerifier[];
  /**
   * If true, a last seal of an unknown key is continued, because that key is lost. Its signature
   * cannot be verified. Default: false.
   */
  readonly isKeyLost?: boolean;
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
/** Other processes may seal, and other programs append to the stream, at the same time. */
const afterConflicts = afterErrors((error) => error instanceof WrongExpectedRevision, {
  firstMs: 20,
  maxMs: 1_000,
  maxAttempts: 10,
});

interface AttemptOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time of a restore that the seal states. Default: that of the last seal. */
  readonly restored?: string;
}

export const createSeals = (options: SealsOptions): Seals => {
  const { store, signer, formerSigners = [], clock, requireMeasuredClock, time = systemTime } = options;

  const isOfFormerKey = (last: LastSeal | undefined): boolean =>
    last?.key !== signer.verifierKey && formerSigners.some(({ verifierKey }) => verifierKey === last?.key);
  /** Once per process: during a rolling restart, instances with either key alternate. */
  let mayHandOver = true;

  const attempt = async (
    metadata: EventMetadata,
    { signal, restored }: AttemptOptions = {},
  ): Promise<RecordedSeal> => {
    await requireMeasuredClock();
    const { last, end } = await readSeals(options);
    const lastTime = last ? Date.parse(last.data.at) : 0;
    const now = clock();
    const at = new Date(lastTime - now > wrongMs ? now : Math.max(now, lastTime)).toISOString();
    const data = await prepareSeal({ ...options, signal }, last, {
      seal: end + 1,
      at,
      restored: restored ?? last?.checkpoint.restored,
    });
    signal?.throwIfAborted();
    const event = { id: uuidv7(clock()), type: "Sealed", data, metadata };
    const { revision } = await store.append(sealsStream, [event], end < 0 ? "none" : end);
    return { revision, data };
  };

  const repeated = async <T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    try {
      return await retry({ delayAfter: afterConflicts, time, signal }, work);
    } catch (error) {
      if (error instanceof WrongExpectedRevision) {
        throw new Unavailable("Others keep appending to the stream of seals.", 1, { cause: error });
      }
      throw toUnavailable(error);
    }
  };

  const seal = (metadata: EventMetadata, attemptOptions?: AttemptOptions): Promise<RecordedSeal> =>
    repeated(() => attempt(metadata, attemptOptions));

  return {
    seal: (metadata) => seal(metadata),
    sealRestored: (restored, metadata) => seal(metadata, { restored }),
    handOver: async (metadata) => {
      const { last } = await readSeals(options).catch((error: unknown) =>
        Promise.reject(toUnavailable(error)),
      );
      if (isOfFormerKey(last)) await seal(metadata);
    },
    sealIfDue: (intervalMs, metadata, signal) =>
      repeated(async () => {
        const { last } = await readSeals(options);
        const lastAt = last ? Date.parse(last.data.at) : Number.NEGATIVE_INFINITY;
        const age = clock() - lastAt;
        const isHandOver = mayHandOver && isOfFormerKey(last);
        if (age < intervalMs && age > -wrongMs && !isHandOver) return lastAt;
        const { data } = await attempt(metadata, { signal });
        mayHandOver = false;
        return Date.parse(data.at);
      }, signal),
  };
};

interface LastSeal extends RecordedSeal {
  readonly tree: MerkleTree;
  readonly checkpoint: Checkpoint;
  /** The verifier key of its signer; undefined for a lost key. */
  readonly key: string | undefined;
}

type ReadSealsOptions = Pick<SealsOptions, "store" | "keys" | "isKeyLost">;

interface SealsEnd {
  /** Undefined in a new log. */
  readonly last: LastSeal | undefined;
  /** The last revision of the stream `seals`, also if it is another program's; -1: none. */
  readonly end: number;
}

/** @throws {BadSeal} */
const readSeals = async (options: ReadSealsOptions): Promise<SealsEnd> => {
  const { store } = options;
  const end = await readLastEvent(store, sealsStream);
  const event = await readLastSealEvent(store);
  // Nothing may begin anew because the seals were removed and other events were left.
  if (end && !event && (await readEvent(store, sealsStream))?.revision !== 0)
    throw new BadSeal("the first events of the stream seals are missing");
  return { last: event && openSeal(event, options), end: end?.revision ?? -1 };
};

/** @throws {BadSeal} */
const openSeal = (event: RecordedEvent, { keys, isKeyLost = false }: ReadSealsOptions): LastSeal => {
  const { revision } = event;
  if (!isSealedEvent(event)) throw new BadSeal(`seal ${revision} is malformed`);
  const { data } = event;
  const tree = { size: data.size, edge: data.edge.map(fromHex) };
  const key = signerOf(data.note, keys);
  if (!key && !isKeyLost) {
    throw new BadSeal(`seal ${revision} is not signed with a known key: add its verifier key to seal.pub`);
  }
  const checkpoint = parseCheckpoint(parseNote(data.note)?.text ?? "");
  if (checkpoint?.size !== tree.size || !equalBytes(checkpoint.root, rootOf(tree))) {
    throw new BadSeal(`seal ${revision} does not have the tree that its note signs`);
  }
  return { revision, data, tree, checkpoint, key: key && verifierKeyOf(key) };
};

const isSealedEvent = (event: RecordedEvent): event is RecordedEvent & { readonly data: Sealed } =>
  event.type === "Sealed" && isWellFormed(event);

/**
 * Prepares a seal that continues the last one. Positions are readable in order: when a read has
 * shown one position, a read that starts later misses no event before it. So the streams are read
 * after `readLedgerEnd`, and the journals after both.
 */
const prepareSeal = async (
  {
    store,
    signer,
    formerSigners = [],
    signal,
  }: Pick<SealsOptions, "store" | "signer" | "formerSigners"> & { signal: AbortSignal | undefined },
  last: LastSeal | undefined,
  {
    seal,
    at,
    restored,
  }: { readonly seal: number; readonly at: string; readonly restored: string | undefined },
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
  const note = signer.sign(checkpointText({ origin: signer.name, size, root: rootOf(tree), restored }));
  const sealed = { position, journals, size, edge: edge.map(toHex), note, at };
  if (!last || last.key === signer.verifierKey) return sealed;
  const former = formerSigners.find(({ verifierKey }) => verifierKey === last.key);
  return { ...sealed, newKey: introduceKey(signer.verifierKey, former, last.checkpoint) };
};
