import { hash } from "node:crypto";
import { concatBytes, equalBytes, fromBase64, toBase64, toHex, utf8 } from "../../bytes.ts";

/**
 * Signed notes (https://c2sp.org/signed-note) with one Ed25519 signature, and checkpoints
 * (https://c2sp.org/tlog-checkpoint).
 */

/** A public key, as its verifier key states it. */
interface NoteKey {
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
export const ed25519 = Uint8Array.of(1);
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

/** The text of a note that one of the keys signed; undefined for any other note. */
export const openNote = (note: string, keys: readonly NoteVerifier[]): string | undefined => {
  const end = note.lastIndexOf("\n\n");
  if (end < 0) return undefined;
  const text = note.slice(0, end + 1);
  const [, name, encoded = ""] = /^— (\S+) (\S+)\n$/.exec(note.slice(end + 2)) ?? [];
  const signature = fromBase64(encoded);
  if (!signature) return undefined;
  const key = keys.find((one) => one.name === name && equalBytes(signature.subarray(0, idLength), one.id));
  return key?.verify(utf8(text), signature.subarray(idLength)) ? text : undefined;
};

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
