import { hash } from "node:crypto";
import { hashInName } from "../../audio/store/audio-store.ts";
import { isAudioName } from "../../domain/synthesis/recipe.ts";
import type { EpochMs } from "../../domain/time.ts";
import { BadBackup } from "./manifest.ts";

/**
 * An object of the audio that the service had at the time of the backup. The directory of a backup
 * may hold further objects, of earlier backups, which are not restored.
 */
export interface ListedAudio {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The time at which the service last used it. The copy's own times may be those of `cp`. */
  readonly usedAt: EpochMs;
}

/** The list has one line per object, in the order of the names. */
export const formatListed = ({ sha256, bytes, usedAt, name }: ListedAudio): string =>
  `${sha256} ${bytes} ${Math.floor(usedAt)} ${name}\n`;

/** @throws {BadBackup} */
export const parseListed = (line: string): ListedAudio => {
  const [, sha256 = "", bytes, usedAt, name = ""] =
    /^([0-9a-f]{64}) (\d{1,15}) (\d{1,15}) (\S+)$/.exec(line) ?? [];
  if (!isAudioName(name)) throw new BadBackup("the list of audio has a line that names no object");
  return { name, bytes: Number(bytes), sha256, usedAt: Number(usedAt) };
};

export const sha256Of = (bytes: Buffer): string => hash("sha256", bytes);

/** The last time at which an operator deleted audio, by its hash. */
export type Deletions = ReadonlyMap<string, EpochMs>;

/** True if the object was deleted after it was last used. */
export const isDeleted = (
  deletions: Deletions,
  { name, usedAt }: Pick<ListedAudio, "name" | "usedAt">,
): boolean => usedAt <= (deletions.get(hashInName(name) ?? "") ?? Number.NEGATIVE_INFINITY);
