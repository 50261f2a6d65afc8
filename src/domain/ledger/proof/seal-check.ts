import { equalBytes, toHex } from "../../bytes.ts";
import { isOfType } from "../../event-shapes.ts";
import { appendLeaf, emptyTree, type MerkleTree, rootOf } from "../seals/merkle.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import {
  byJournal,
  eventLeaf,
  isSealed,
  type JournalHead,
  journalLeaf,
  type SealEvent,
  type Sealed,
  sealLeaf,
  sealsStream,
  withoutEnvelopes,
} from "../seals/seal.ts";
import { type Checkpoint, type NoteVerifier, openNote } from "../seals/seal-note.ts";
import { verifiedLeaf } from "./event-check.ts";
import type { createJournalChains } from "./journal-chains.ts";
import { NotEndorsed, NotGenuine, NotSealed, nameOf } from "./not-genuine.ts";
import { createRestoreCheck, type MissingSeal } from "./restore-check.ts";
import { createSealKeys, type SealPeriod } from "./seal-keys.ts";
import type { Remarks } from "./time-check.ts";

/**
 * A seal covers an earlier part of the log, so these members must be known before its event is
 * read.
 */
export interface SealPlan extends Pick<Sealed, "position" | "at"> {
  readonly revision: number;
  /** False for a seal of an earlier release. */
  readonly coversEnvelopes: boolean;
  /** Of the journals that the seal lists, those whose events are missing. */
  readonly heads: readonly JournalHead[];
}

/** A checkpoint that the auditor has kept. */
export interface KeptSeal extends Checkpoint {
  /** The signed note. Default: it has been verified. */
  readonly note?: string;
}

export interface SealCheckOptions {
  /** The keys that the auditor has. They may lead to further keys of seals. */
  readonly keys: readonly NoteVerifier[];
  /** All seals, in order. */
  readonly plan: readonly SealPlan[];
  readonly chains: ReturnType<typeof createJournalChains>;
  /**
   * Archived journals whose events are missing. Their last events are taken from the seals, which
   * are signed. Default: none.
   */
  readonly missingJournals?: ReadonlySet<string> | undefined;
  /** One of the seals must have this checkpoint, unless the log was restored from a backup. */
  readonly kept?: KeptSeal | undefined;
}

type PlannedEvent = Pick<ProvenEvent, "stream" | "revision" | "type" | "data" | "metadata">;

/**
 * Adds an event of the stream `seals`. A seal out of order is ignored here: the verification
 * reports it. So are events of other programs, which have revisions too. A plan holds the heads of
 * missing journals only, because a log has many seals.
 */
export const addToPlan = (
  plan: SealPlan[],
  event: PlannedEvent,
  isMissing: (journal: string) => boolean = () => false,
): void => {
  const isNext = event.revision > (plan.at(-1)?.revision ?? -1);
  if (!isNext || !isOfType<SealEvent, typeof event>(event, ["Sealed"])) return;
  const { position, at, journals } = event.data;
  const coversEnvelopes = journals.every(({ envelopes }) => envelopes !== undefined);
  const heads = journals.filter(({ journal }) => isMissing(journal));
  plan.push({ revision: event.revision, position, at, coversEnvelopes, heads });
};

/** The tree that a seal must have. */
interface Covered {
  readonly fromInclusive: number;
  readonly tree: MerkleTree;
  readonly heads: readonly JournalHead[];
}

interface SealsSummary {
  readonly seals: number;
  readonly last: Sealed;
  readonly unsealed: number;
  readonly partlyCovered: number;
  readonly keys: readonly SealPeriod[];
  readonly remarks: Remarks;
  /** Present if the log lacks the kept seal, because a restore has lost it. */
  readonly missing?: MissingSeal;
}

/**
 * Builds the tree from the events, and compares it with every seal. So each seal is consistent with
 * all earlier ones.
 */
export const createSealCheck = ({ keys, plan, chains, missingJournals, kept }: SealCheckOptions) => {
  const covered = new Map<number, Covered>();
  const restores = createRestoreCheck();
  let tree = emptyTree;
  let next = 0;
  let fromInclusive = 0;
  let sealCount = 0;
  let unsealed = 0;
  let foundKept = false;
  /** The seal that has the kept one's size, and another root. */
  let otherRoot: string | undefined;
  let last: Sealed | undefined;
  const sealKeys = createSealKeys(keys);

  /** The numbers of events that only seals of earlier releases cover, by journal. */
  const partlyCovered = new Map<string, number>();

  const cover = (seal: SealPlan): void => {
    const present = seal.coversEnvelopes ? chains.heads() : chains.heads().map(withoutEnvelopes);
    const missing = seal.heads.filter(({ journal }) => missingJournals?.has(journal));
    const heads = [...present, ...missing].sort(byJournal);
    chains.forgetRetired();
    for (const head of heads) {
      tree = appendLeaf(tree, journalLeaf(head));
      if (seal.coversEnvelopes) partlyCovered.delete(head.journal);
      else partlyCovered.set(head.journal, head.revision + 1);
    }
    tree = appendLeaf(tree, sealLeaf(seal.revision, seal));
    covered.set(seal.revision, { fromInclusive, tree, heads });
    fromInclusive = seal.position + 1;
    unsealed = 0;
  };

  /**
   * Returns what is missing with the kept seal, if a restore has lost it.
   * @throws {NotEndorsed} if the keys are of another log, or none signed the kept note
   * @throws {NotGenuine}
   */
  const explainMissing = (): MissingSeal | undefined => {
    if (!kept || foundKept) return undefined;
    sealKeys.requireSameLog();
    const { note, size } = kept;
    if (note !== undefined && openNote(note, sealKeys.accepted()) === undefined)
      throw new NotEndorsed("the kept seal is not signed with a given key, nor with one that they endorsed");
    const missing = restores.explain(kept);
    if (missing) return missing;
    if (restores.mayExplain(kept)) sealKeys.end(); // names the key that the auditor lacks
    throw new NotGenuine(
      otherRoot === undefined
        ? `no seal has the size of the kept one, ${size}`
        : `${otherRoot} is not the kept seal: the log was rewritten before it`,
    );
  };

  const compare = (event: ProvenEvent): void => {
    if (!isOfType<SealEvent, ProvenEvent>(event, ["Sealed"])) {
      throw new NotGenuine(`${nameOf(event)} is not a well-formed seal`);
    }
    const expected = covered.get(event.revision);
    if (!expected) throw new NotGenuine(`${nameOf(event)} does not cover an earlier part of the log`);
    covered.delete(event.revision);
    const checkpoint = sealKeys.add(event);
    compareHeads(event, expected.heads);
    compareTrees(event, checkpoint, expected);
    restores.addSeal(event, checkpoint, sealKeys.periods.at(-1)?.trust !== "unknown");
    if (kept?.size === checkpoint.size) {
      if (equalBytes(kept.root, checkpoint.root)) foundKept = true;
      else otherRoot = nameOf(event);
    }
    sealCount += 1;
    last = event.data;
  };

  return {
    /**
     * Call it before the event is added to the chains: the event may be the first one after a
     * seal's position.
     */
    beforeEvent: ({ position }: ProvenEvent): void => {
      for (let seal = plan[next]; seal && position > seal.position; seal = plan[++next]) cover(seal);
    },
    /** @throws {NotGenuine} */
    add: (event: ProvenEvent): void => {
      if (event.stream === sealsStream) compare(event);
      else unsealed += 1;
      sealKeys.note(event);
      restores.add(event, tree.size);
      if (isSealed(event.stream)) tree = appendLeaf(tree, verifiedLeaf(event));
    },
    /** Adds an event of another program in a sealed stream: seals cover it like any other. */
    addForeign: (event: ProvenEvent): void => {
      if (event.stream !== sealsStream) unsealed += 1;
      tree = appendLeaf(tree, eventLeaf(event));
    },
    /** The keys that may have signed the end of an export. */
    acceptedKeys: sealKeys.accepted,
    /** @throws {NotGenuine} */
    end: (): SealsSummary => {
      if (sealCount < plan.length) throw new NotGenuine(`seal ${plan[sealCount]?.revision} is missing`);
      const missing = explainMissing();
      if (!last) throw new NotSealed();
      const keyRemarks = sealKeys.end();
      return {
        seals: sealCount,
        last,
        unsealed,
        partlyCovered: partlyCovered.values().reduce((sum, one) => sum + one, 0),
        keys: sealKeys.periods,
        remarks: [...keyRemarks, ...restores.remarks()],
        ...(missing && { missing }),
      };
    },
  };
};

const compareHeads = (event: ProvenEvent & SealEvent, expected: readonly JournalHead[]): void => {
  const listed = new Map(event.data.journals.map((head) => [head.journal, head]));
  for (const { journal, revision, digest, envelopes } of expected) {
    const head = listed.get(journal);
    if (!head) throw new NotGenuine(`${nameOf(event)} omits journal ${journal}, or that journal was added`);
    if (revision < head.revision) {
      throw new NotGenuine(
        `journal-${journal} revision ${revision + 1} is missing: seal ${event.revision} covers it`,
      );
    }
    if (revision > head.revision) {
      throw new NotGenuine(
        `journal-${journal} revision ${head.revision + 1} was added before seal ${event.revision}`,
      );
    }
    if (digest !== head.digest) {
      throw new NotGenuine(
        `journal-${journal} revision ${revision} was changed: seal ${event.revision} covers another event`,
      );
    }
    if (envelopes !== head.envelopes) {
      throw new NotGenuine(
        `journal-${journal}: the position, id, time or metadata of an event up to revision ${revision} was changed: seal ${event.revision} covers others`,
      );
    }
    listed.delete(journal);
  }
  const [missing] = listed.keys();
  if (missing)
    throw new NotGenuine(`journal-${missing} revision 0 is missing: seal ${event.revision} covers it`);
};

const compareTrees = (
  event: ProvenEvent & SealEvent,
  checkpoint: Checkpoint,
  { fromInclusive, tree }: Covered,
): void => {
  const { position, size, edge } = event.data;
  const range = `between the positions ${fromInclusive} and ${position}, which seal ${event.revision} covers`;
  if (tree.size !== checkpoint.size) {
    const difference = tree.size - checkpoint.size;
    const what = difference < 0 ? "missing" : "added";
    throw new NotGenuine(`${Math.abs(difference)} events are ${what} ${range}`);
  }
  if (!equalBytes(rootOf(tree), checkpoint.root))
    throw new NotGenuine(`an event was changed or moved ${range}`);
  const expected = tree.edge.map(toHex);
  if (size !== tree.size || edge.join() !== expected.join()) {
    throw new NotGenuine(`${nameOf(event)} does not have the tree that its note signs`);
  }
};
