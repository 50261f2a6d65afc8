import { toBase64 } from "../../bytes.ts";
import type { NoteSigner } from "./note-signer.ts";
import type { Sealed } from "./seal.ts";
import { type Checkpoint, type NoteVerifier, openNote } from "./seal-note.ts";

/**
 * With this text a seal key says that another one seals the log after it. The checkpoint is that of
 * its last seal. So the new key is endorsed only for logs that contain this tree, and its holder
 * cannot rewrite what the former key has sealed. The text is neither a checkpoint nor that of an
 * export.
 */
const endorsementText = ({ origin, size, root }: Checkpoint, verifierKey: string): string =>
  `${origin} endorses\n${verifierKey}\n${size}\n${toBase64(root)}\n`;

/**
 * The statement of a key that seals after another one. `former`: the signer of that key, if this
 * process has it.
 */
export const introduceKey = (
  verifierKey: string,
  former: NoteSigner | undefined,
  last: Checkpoint,
): NonNullable<Sealed["newKey"]> => ({
  key: verifierKey,
  ...(former && { endorsement: former.sign(endorsementText(last, verifierKey)) }),
});

/** True if the key of the seal before, whose checkpoint is `last`, has endorsed the new key. */
export const isEndorsed = (
  { key, endorsement }: NonNullable<Sealed["newKey"]>,
  former: NoteVerifier,
  last: Checkpoint,
): boolean => endorsement !== undefined && openNote(endorsement, [former]) === endorsementText(last, key);
