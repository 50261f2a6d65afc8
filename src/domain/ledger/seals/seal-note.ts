import { hash } from "node:crypto";
import { concatBytes, equalBytes, fromBase64, toBase64, toHex, utf8 } from "../../bytes.ts";

/**
 * Signed notes (https://c2sp.org/signed-note) with one Ed25519 signature, and checkpoints
 * (https://c2sp.org/tlog-checkpoint).
 */

/** A public key, as its verifier key states it. */
export interface NoteKey {
  readonly name: string;
  readonly id: Uint8Array;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
}

export interface NoteVerifier extends NoteKey {
  /**
   * True if the signature is one of the key. A browser may return true, and verify the signature
   * afterwards.
   */
  verify(text: Uint8Array, signature: Uint8Array): boolean;
}

/** The signature type of Ed25519. */
const ed25519 = Uint8Array.of(1);
const idLength = 4;
const keyLength = 32;

export const keyId = (name: string, publicKey: Uint8Array): Uint8Array =>
  hash("sha256", concatBytes(utf8(`${name}\n`), ed25519, publicKey), "buffer").subarray(0, idLength);

/** Returns undefined unless the text is the verifier key of an Ed25519 key. */
export const parseVerifierKey = (verifierKey: string): NoteKey | undefined => {
  const [, name = "", id = "", encoded = ""] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/.exec(verifierKey) ?? [];
  const bytes = fromBase64(encoded);
  if (bytes?.length !== 1 + keyLength || bytes[0] !== ed25519[0]) return undefined;
  const publicKey = bytes.subarray(1);
  const expected = keyId(name, publicKey);
  return toHex(expected) === id ? { name, id: expected, publicKey } : undefined;
};

/** The verifier key of a public key: `name+id+key`. */
export const verifierKeyOf = ({ name, id, publicKey }: NoteKey): string =>
  `${name}+${toHex(id)}+${toBase64(concatBytes(ed25519, publicKey))}`;

/** A note as it is written: its signature has not been verified. */
interface Note {
  readonly text: string;
  /** The name and the id of the key that the signature names. */
  readonly name: string;
  readonly id: Uint8Array;
  readonly signature: Uint8Array;
}

/** Returns undefined for a text that is not a note with one signature. */
export const parseNote = (note: string): Note | undefined => {
  const end = note.lastIndexOf("\n\n");
  if (end < 0) return undefined;
  const [, name, encoded = ""] = /^— (\S+) (\S+)\n$/.exec(note.slice(end + 2)) ?? [];
  const bytes = fromBase64(encoded);
  if (name === undefined || !bytes) return undefined;
  const text = note.slice(0, end + 1);
  return { text, name, id: bytes.subarray(0, idLength), signature: bytes.subarray(idLength) };
};

/** True if the note says that the key has signed it. */
export const namesKey = (note: Pick<Note, "name" | "id">, key: NoteKey): boolean =>
  note.name === key.name && equalBytes(note.id, key.id);

/** Returns the key among these that signed the note; undefined if none did. */
export const signerOf = <K extends NoteVerifier>(note: string, keys: readonly K[]): K | undefined => {
  const parsed = parseNote(note);
  if (!parsed) return undefined;
  const named = keys.filter((key) => namesKey(parsed, key));
  return named.find((key) => key.verify(utf8(parsed.text), parsed.signature));
};

/** The text of a note that one of the keys signed; undefined for any other note. */
export const openNote = (note: string, keys: readonly NoteVerifier[]): string | undefined =>
  signerOf(note, keys) && parseNote(note)?.text;

/** A Merkle tree of this many leaves has this root. */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /**
   * The time of the log's last restore from a backup, if there was one. The command that restores
   * makes the first seal with this line, and each later seal repeats it: without the key nobody can
   * claim that the log was restored.
   */
  readonly restored?: string | undefined;
}

export const checkpointText = ({ origin, size, root, restored }: Checkpoint): string =>
  `${origin}\n${size}\n${toBase64(root)}\n${restored === undefined ? "" : `restored ${restored}\n`}`;

/** Returns undefined for a text that is not a checkpoint. */
export const parseCheckpoint = (text: string): Checkpoint | undefined => {
  const [, origin = "", size = "", encoded = "", restored] =
    /^([^\n]+)\n(0|[1-9]\d{0,15})\n([^\n]+)\n(?:restored (\S+)\n)?$/.exec(text) ?? [];
  const root = fromBase64(encoded);
  if (root?.length !== keyLength) return undefined;
  return { origin, size: Number(size), root, ...(restored !== undefined && { restored }) };
};
