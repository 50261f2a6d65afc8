import type { InstallationKeysEvent } from "../../accounts/master-key.ts";
import { toHex, utf8 } from "../../bytes.ts";
import { isOfType } from "../../event-shapes.ts";
import { isEndorsed } from "../seals/endorsement.ts";
import { createNoteVerifier } from "../seals/note-signer.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import type { SealEvent } from "../seals/seal.ts";
import {
  type Checkpoint,
  type NoteVerifier,
  namesKey,
  openNote,
  parseCheckpoint,
  parseNote,
  verifierKeyOf,
} from "../seals/seal-note.ts";
import { NotEndorsed, NotGenuine, nameOf } from "./not-genuine.ts";

/**
 * Why a seal's key is accepted. `endorsed`: an accepted key endorsed it. `unknown`: it is not.
 * Seals of accepted keys prove all that they cover, earlier seals of other keys included.
 */
export type KeyTrust = "given" | "endorsed" | "unknown";

/** Successive seals of one key. */
export interface SealPeriod {
  /** The verifier key. Of an unknown key that no seal states: its name and id. */
  readonly key: string;
  readonly trust: KeyTrust;
  /** The verifier key of the key before, if that endorsed this one. */
  readonly endorsedBy?: string;
  /** The numbers of the first and the last seal. */
  readonly firstSeal: number;
  readonly lastSeal: number;
  /** The last seal covers the log up to this position. */
  readonly position: number;
}

type Seal = ProvenEvent & SealEvent;
type Note = NonNullable<ReturnType<typeof parseNote>>;

interface KnownKey {
  readonly verifier: NoteVerifier;
  readonly trust: KeyTrust;
}

interface SignedSeal {
  readonly event: Seal;
  readonly checkpoint: Checkpoint;
  readonly key: string;
  readonly trust: KeyTrust;
  /** Absent for an unknown key that no seal states. */
  readonly verifier: NoteVerifier | undefined;
  readonly endorsedBy: string | undefined;
}

/** Finds the key of each seal, in their order, and whether the given keys lead to it. */
export const createSealKeys = (given: readonly NoteVerifier[]) => {
  const known = new Map<string, KnownKey>(
    given.map((verifier) => [verifierKeyOf(verifier), { verifier, trust: "given" }]),
  );
  const periods: SealPeriod[] = [];
  const remarks: string[] = [];
  /** Keys after which a seal stated another one, and which were not endorsed again since. */
  const replaced = new Set<string>();
  let previous: SignedSeal | undefined;
  /** The last seal of a given or endorsed key. */
  let proven: SignedSeal | undefined;
  /** The first seal of an unknown key after that. */
  let unexplained: SignedSeal | undefined;
  let lossPosition = -1;

  const trustOf = (key: string, endorser: SignedSeal | undefined): KeyTrust => {
    const { trust = "unknown" } = known.get(key) ?? {};
    if (trust !== "unknown") return trust;
    return endorser && endorser.trust !== "unknown" ? "endorsed" : "unknown";
  };

  const identify = (event: Seal): SignedSeal => {
    const { note, checkpoint } = readNote(event);
    const verifier = findSigner(event, note, [...known.values()]) ?? statedKey(event);
    const key = verifier ? verifierKeyOf(verifier) : `${note.name}+${toHex(note.id)}`;
    const endorser = previous && isEndorsedBy(previous, event, key) ? previous : undefined;
    const trust = trustOf(key, endorser);
    return { event, checkpoint, key, trust, verifier, endorsedBy: endorser?.key };
  };

  const addPeriod = ({ event: { revision, data }, key, trust, endorsedBy }: SignedSeal): void => {
    const { position } = data;
    const last = periods.at(-1);
    const isSame = last?.key === key;
    if (isSame) periods.pop();
    const began = { key, trust, ...(endorsedBy !== undefined && { endorsedBy }), firstSeal: revision };
    periods.push({ ...(isSame ? last : began), lastSeal: revision, position });
  };

  const noteReplacement = ({ event, key, endorsedBy }: SignedSeal): void => {
    if (!previous || previous.key === key) return;
    // Instances of earlier versions alternate during a rolling restart, and state no key.
    if (event.data.newKey) replaced.add(previous.key);
    if (endorsedBy !== undefined) {
      replaced.delete(key);
    } else if (replaced.has(key)) {
      remarks.push(
        `${nameOf(event)} is signed with key ${shortKey(key)} again, which another key had replaced: an instance went back to it, or someone else has it`,
      );
    }
  };

  /** @throws {NotEndorsed} if all given keys are of another log */
  const requireSameLog = (): void => {
    const names = new Set(given.map(({ name }) => name));
    if (!previous || names.size === 0 || periods.some(({ key }) => names.has(nameOfKey(key)))) return;
    throw new NotEndorsed(
      `the given keys are of another log: they are of ${[...names].join(", ")}, and the seals of ${previous.checkpoint.origin}`,
    );
  };

  return {
    /** The periods of keys, in order. */
    periods: periods as readonly SealPeriod[],
    requireSameLog,
    /** The keys that may sign the end of an export. */
    accepted: (): NoteVerifier[] =>
      [...known.values()].filter(({ trust }) => trust !== "unknown").map(({ verifier }) => verifier),
    /** Call it for all events: a loss explains a new key. */
    note: (event: ProvenEvent): void => {
      if (isOfType<InstallationKeysEvent, ProvenEvent>(event, ["MasterKeyReplaced"]))
        lossPosition = event.position;
    },
    /**
     * Returns the seal's checkpoint.
     * @throws {NotGenuine}
     */
    add: (event: Seal): Checkpoint => {
      const seal = identify(event);
      const { key, trust, verifier, checkpoint } = seal;
      noteReplacement(seal);
      addPeriod(seal);
      if (verifier) known.set(key, { verifier, trust });
      previous = seal;
      const isProof = trust !== "unknown";
      if (isProof && proven && unexplained) {
        remarks.push(
          `${nameOf(unexplained.event)} is signed with key ${shortKey(unexplained.key)}, which no given key endorsed. Only ${nameOf(event)} proves what it covers`,
        );
      }
      if (isProof) [proven, unexplained] = [seal, undefined];
      else unexplained ??= seal;
      return checkpoint;
    },
    /**
     * Returns remarks. Call it after the last seal.
     * @throws {NotEndorsed} if the last seals are signed with a key to which no given key leads
     */
    end: (): readonly string[] => {
      if (!unexplained) return remarks;
      requireSameLog();
      const upTo = proven?.event.data.position ?? -1;
      const before = proven ? `genuine up to position ${upTo}, but ` : "";
      // Whoever can write to the event store can say so: this explains the key, and proves nothing.
      const loss =
        lossPosition > upTo
          ? `. The log says at position ${lossPosition} that the master key was lost: get the new key from the operator by another way, compare it, and verify with both keys`
          : "";
      throw new NotEndorsed(
        `${before}${nameOf(unexplained.event)} is not signed with a given key, nor with one that a given key endorsed: its key is ${unexplained.key}${loss}`,
      );
    },
  };
};

/** @throws {NotGenuine} unless the seal's note is a signed checkpoint */
const readNote = (event: Seal): { note: Note; checkpoint: Checkpoint } => {
  const note = parseNote(event.data.note);
  if (!note) throw new NotGenuine(`${nameOf(event)} is not signed with a given key, nor with any other`);
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint?.origin === note.name) return { note, checkpoint };
  throw new NotGenuine(`${nameOf(event)} does not sign a checkpoint of this log`);
};

/** @throws {NotGenuine} if the note names one of the keys, and is not signed with it */
const findSigner = (event: Seal, note: Note, keys: readonly KnownKey[]): NoteVerifier | undefined => {
  const named = keys.filter(({ verifier }) => namesKey(note, verifier));
  const signer = named.find(({ verifier }) => verifier.verify(utf8(note.text), note.signature));
  if (signer || named.length === 0) return signer?.verifier;
  throw new NotGenuine(`${nameOf(event)} is not signed with a given key: the signature is wrong`);
};

/** True if the key of the seal before endorsed this key. */
const isEndorsedBy = (before: SignedSeal, { data: { newKey } }: Seal, key: string): boolean =>
  before.verifier !== undefined &&
  before.key !== key &&
  newKey?.key === key &&
  isEndorsed(newKey, before.verifier, before.checkpoint);

/** The key that the seal states, if it signed the seal. */
const statedKey = ({ data: { newKey, note } }: Seal): NoteVerifier | undefined => {
  const verifier = newKey && createNoteVerifier(newKey.key);
  return verifier && openNote(note, [verifier]) !== undefined ? verifier : undefined;
};

const nameOfKey = (key: string): string => key.slice(0, key.indexOf("+"));

/** The name and the id of a verifier key. */
export const shortKey = (key: string): string => key.split("+", 2).join("+");
