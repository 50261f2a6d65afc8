import { isOfType } from "../../event-shapes.ts";
import { type UsageCount, usageAccountStream } from "../accounts/usage-account.ts";
import { eventDigest } from "../journal/canonical.ts";
import { journalPrefix } from "../journal/journal.ts";
import { journalRegistryStream } from "../journal/journal-registry.ts";
import { quotaStream } from "../quota/quota.ts";
import { type InclusionProof, provesInclusion } from "../seals/merkle-proof.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { journalLeaf, type SealEvent, type Sealed, sealsStream, withoutEnvelopes } from "../seals/seal.ts";
import { type Checkpoint, type NoteVerifier, openNote, parseCheckpoint } from "../seals/seal-note.ts";
import { createOrderCheck, isWellFormedProof, requireForm, runChecks, verifiedLeaf } from "./event-check.ts";
import { createExportReader, type ExportedEvent, readLines, signedWith } from "./export-lines.ts";
import { createForeignEvents } from "./foreign-events.ts";
import { createJournalChains } from "./journal-chains.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";
import { PostingsCheck } from "./postings-check.ts";
import { keyPrefix, QuotaCheck } from "./quota-check.ts";
import { createTimeCheck, type Remarks } from "./time-check.ts";

export interface KeyMonth {
  readonly apiKey: string;
  /** `yyyy-mm`, UTC. */
  readonly month: string;
}

/** The totals of a key's month, as its events give them. */
export interface KeyMonthSummary extends UsageCount {
  readonly voided: UsageCount;
  readonly isClosed: boolean;
  /** The number of events in all streams, without the seal. */
  readonly events: number;
  /** The numbers of events by stream. */
  readonly streams: ReadonlyMap<string, number>;
  readonly sealed: Pick<Sealed, "position" | "at" | "note"> & { readonly seal: number };
  readonly remarks: Remarks;
}

/** The streams that the export of a key's month has, besides the seal and the journals. */
export const keyMonthStreams = ({ apiKey, month }: KeyMonth): string[] => [
  `${keyPrefix}${apiKey}`,
  usageAccountStream(apiKey, month),
  quotaStream(apiKey, month),
  journalRegistryStream,
];

/**
 * Verifies an export of one key's month. The export begins with a seal. Then, in order of position,
 * come all events that precede the seal in these streams: the key's own stream, its usage account
 * and quota of the month, the registry of journals, and the journals that may hold entries of the
 * key.
 */
export const createKeyMonthVerifier = (keys: readonly NoteVerifier[], keyMonth: KeyMonth) => {
  const [, account = "", quota] = keyMonthStreams(keyMonth);
  const known = new Set(keyMonthStreams(keyMonth));
  const checkOrder = createOrderCheck();
  const chains = createJournalChains();
  const foreign = createForeignEvents(chains.isRegistered);
  const postings = new PostingsCheck((stream) => stream === account);
  const quotas = new QuotaCheck((stream) => stream === quota);
  const times = createTimeCheck({ isWholeLog: false });
  const streams = new Map<string, number>();
  /** The last event of each journal. */
  const heads = new Map<string, ExportedEvent>();
  let seal: ReadSeal | undefined;
  let closing: (UsageCount & { readonly voided: UsageCount }) | undefined;

  /**
   * Returns the journal's leaf in the form of this release, and in the form of earlier releases.
   * The tree has only one of them.
   */
  const journalLeaves = ({ stream }: ProvenEvent): Uint8Array[] => {
    const head = chains.headOf(stream.slice(journalPrefix.length));
    return head ? [journalLeaf(head), journalLeaf(withoutEnvelopes(head))] : [];
  };

  /** True for an event of another program, which needs no form. Counts it. */
  const isForeign = (event: ProvenEvent): boolean => {
    // The export has only journals that the key's streams or the registry name.
    if (event.stream.startsWith(journalPrefix)) return false;
    const kind = foreign.recognise(event);
    if (kind !== undefined) foreign.count(kind, event);
    return kind !== undefined;
  };

  const addToChecks = (event: ProvenEvent): void => {
    checkOrder(event);
    if (isForeign(event)) return;
    requireForm(event, isWellFormedProof);
    chains.add(event);
    postings.add(event);
    quotas.add(event);
    times.add(event);
  };

  return {
    /** The numbers of events by stream, so far. */
    streams: streams as ReadonlyMap<string, number>,
    /** @throws {NotGenuine} */
    add: ({ event, inclusion }: ExportedEvent): void => {
      if (!seal) {
        seal = readSeal(event, keys);
        return;
      }
      const isJournal = event.stream.startsWith(journalPrefix);
      if (!isJournal && !known.has(event.stream)) {
        throw new NotGenuine(`${nameOf(event)} was added: it is not of this key and month`);
      }
      const covering = seal;
      checkPosition(event, seal);
      runChecks(event, () => {
        addToChecks(event);
        if (!isJournal) checkInclusion(event, [verifiedLeaf(event)], inclusion, covering);
        else if (inclusion) checkInclusion(event, journalLeaves(event), inclusion, covering);
      });
      if (isJournal) heads.set(event.stream, { event, inclusion });
      if (event.stream === account && event.type === "AccountClosed") closing = event.data as typeof closing;
      streams.set(event.stream, (streams.get(event.stream) ?? 0) + 1);
    },
    /**
     * Call it after the last event.
     * @throws {NotGenuine}
     */
    end: (): KeyMonthSummary => {
      if (!seal) throw new NotGenuine("the export has no seal");
      checkHeads(heads, seal, chains.isOpen);
      const { balance, voided } = closing
        ? { balance: closing, voided: closing.voided }
        : postings.totalsOf(account);
      const { requests, characters } = balance;
      const { position, at, note } = seal.event.data;
      const events = [...streams.values()].reduce((sum, count) => sum + count, 0);
      const sealed = { seal: seal.event.revision, position, at, note };
      const remarks = [...times.remarks(), ...foreign.remarks()];
      return {
        requests,
        characters,
        voided,
        isClosed: closing !== undefined,
        events,
        streams,
        sealed,
        remarks,
      };
    },
  };
};

interface ReadSeal {
  readonly event: ProvenEvent & SealEvent;
  readonly checkpoint: Checkpoint;
}

const readSeal = (event: ProvenEvent, keys: readonly NoteVerifier[]): ReadSeal => {
  if (event.stream !== sealsStream || !isOfType<SealEvent, ProvenEvent>(event, ["Sealed"])) {
    throw new NotGenuine(`a seal is missing before ${nameOf(event)}`);
  }
  return { event, checkpoint: readCheckpoint(event, keys) };
};

/** @throws {NotGenuine} unless the seal signs a checkpoint with one of the keys */
const readCheckpoint = (event: ProvenEvent & SealEvent, keys: readonly NoteVerifier[]): Checkpoint => {
  const text = openNote(event.data.note, keys);
  if (text === undefined) throw new NotGenuine(`${nameOf(event)} is not signed with a given key`);
  const checkpoint = parseCheckpoint(text);
  if (!checkpoint || !keys.some(({ name }) => name === checkpoint.origin)) {
    throw new NotGenuine(`${nameOf(event)} does not sign a checkpoint of this log`);
  }
  return checkpoint;
};

const checkPosition = (event: ProvenEvent, { event: seal }: ReadSeal): void => {
  if (event.position > seal.data.position) {
    throw new NotGenuine(`${nameOf(event)} was added: seal ${seal.revision} ends before it`);
  }
};

/**
 * A journal is sealed by its last event, every other stream by each event. The tree must have one
 * of the leaves.
 */
const checkInclusion = (
  event: ProvenEvent,
  leaves: readonly Uint8Array[],
  inclusion: InclusionProof | undefined,
  { event: seal, checkpoint }: ReadSeal,
): void => {
  if (!inclusion || !leaves.some((leaf) => provesInclusion(inclusion, leaf, checkpoint))) {
    throw new NotGenuine(`${nameOf(event)} was changed: seal ${seal.revision} does not cover it`);
  }
};

/**
 * A journal that was cut off may end with an event that an earlier seal lists, and the tree has a
 * leaf for that event too. So each journal that this seal lists must end with the listed event, and
 * its leaf must be one of this seal's own, which are the last leaves of the tree.
 */
const checkHeads = (
  heads: ReadonlyMap<string, ExportedEvent>,
  { event: { revision: seal, data }, checkpoint }: ReadSeal,
  isOpen: (journal: string) => boolean,
): void => {
  for (const { event, inclusion } of heads.values()) {
    if (!inclusion) throw new NotGenuine(`events are missing after ${nameOf(event)}: no seal covers it`);
  }
  const firstLeaf = checkpoint.size - 1 - data.journals.length;
  for (const [index, { journal, revision, digest }] of data.journals.entries()) {
    const head = heads.get(`${journalPrefix}${journal}`);
    if (!head && !isOpen(journal)) continue; // it is closed, and has no entries of the key
    const last = head?.event.revision ?? -1;
    if (!head || last < revision) {
      throw new NotGenuine(
        `${journalPrefix}${journal} revision ${last + 1} is missing: seal ${seal} covers it`,
      );
    }
    if (eventDigest(head.event) !== digest || head.inclusion?.index !== firstLeaf + index) {
      throw new NotGenuine(`${nameOf(head.event)} is not the end of its journal that seal ${seal} covers`);
    }
  }
};

/**
 * Verifies the text of an export. `onEvents`: called after each chunk with the number of events by
 * stream.
 * @throws {NotGenuine}
 * @throws the errors of `chunks`
 */
export const verifyKeyMonth = async (
  chunks: AsyncIterable<Uint8Array>,
  keys: readonly NoteVerifier[],
  keyMonth: KeyMonth,
  onEvents: (streams: ReadonlyMap<string, number>) => void = () => {},
): Promise<KeyMonthSummary> => {
  const reader = createExportReader(signedWith(() => keys));
  const verifier = createKeyMonthVerifier(keys, keyMonth);
  async function* reported(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      onEvents(verifier.streams);
      yield chunk;
    }
  }
  for await (const line of readLines(reported())) {
    const exported = reader.read(line);
    if (exported) verifier.add(exported);
  }
  reader.end();
  return verifier.end();
};
