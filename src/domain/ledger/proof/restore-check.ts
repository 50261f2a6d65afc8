import { isOfType } from "../../event-shapes.ts";
import { type LogRestored, logStream } from "../../log-format.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import type { SealEvent, Sealed } from "../seals/seal.ts";
import type { Checkpoint } from "../seals/seal-note.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";
import type { Remarks } from "./time-check.ts";

interface Restore {
  readonly position: number;
  readonly at: string;
  readonly name: string;
  /** The sizes of the tree before the restore: of all events, and of the last seal. */
  readonly size: number;
  readonly sealedSize: number;
  /** True if the log did not end, with the last seal, where the event says that the backup did. */
  readonly isMisplaced: boolean;
  /**
   * Which seal states the restore first. Anyone who can write to the log can forge the event, and
   * seal it with a key of their own, which later seals repeat if the master key is lost.
   */
  statedBy: "no seal" | "unknown key" | "accepted key";
}

/** A log that was restored lacks a seal that was made after the backup. */
export interface MissingSeal {
  /** The position at which the backup ended. */
  readonly position: number;
  /** How many leaves of the sealed tree are missing. */
  readonly events: number;
}

/**
 * Finds what restores from backups explain: seals that were made after the backup are missing from
 * the log, and their sizes may return with other roots. Only a restore that a seal of an accepted
 * key states first explains anything, and only the loss of seals that do not state it themselves.
 */
export const createRestoreCheck = () => {
  const restores: Restore[] = [];
  let lastPosition = -1;
  let lastSeal: Sealed | undefined;
  /** The restore that the last seal states. */
  let stated: string | undefined;

  const isExplaining =
    ({ size, restored }: Checkpoint, statedBy: Restore["statedBy"]) =>
    ({ sealedSize, at, ...restore }: Restore): boolean =>
      restore.statedBy === statedBy && size > sealedSize && (restored === undefined || restored < at);

  return {
    /** Returns what is missing with this seal, if a restore has lost it. */
    explain: (kept: Checkpoint): MissingSeal | undefined => {
      const restore = restores.find(isExplaining(kept, "accepted key"));
      return restore && { position: restore.position, events: Math.max(1, kept.size - restore.size) };
    },
    /** Returns true if a restore would explain it, provided that a further key were accepted. */
    mayExplain: (kept: Checkpoint): boolean => restores.some(isExplaining(kept, "unknown key")),
    /**
     * Call it for each event before its leaf is appended to the tree, which has this size.
     */
    add: (event: ProvenEvent, size: number): void => {
      const before = lastPosition;
      lastPosition = event.position;
      if (event.stream !== logStream || !isOfType<LogRestored, ProvenEvent>(event, ["LogRestored"])) return;
      const { position, at, seal } = event.data;
      const isMisplaced = position < before || position >= event.position || seal !== lastSeal?.note;
      const sizes = { size, sealedSize: lastSeal?.size ?? 0 };
      restores.push({ position, at, name: nameOf(event), ...sizes, isMisplaced, statedBy: "no seal" });
    },
    /**
     * Call it for each seal, whose key is accepted or unknown. Each later seal repeats what it
     * states.
     * @throws {NotGenuine} if it states a restore other than the last one in place before it
     */
    addSeal: (event: ProvenEvent & SealEvent, { restored }: Checkpoint, isAccepted: boolean): void => {
      lastSeal = event.data;
      if (restored === stated) return;
      const restore = restores.findLast(({ isMisplaced }) => !isMisplaced);
      if (restored === undefined || restore?.at !== restored)
        throw new NotGenuine(`${nameOf(event)} does not state the last restore of the log`);
      restore.statedBy = isAccepted ? "accepted key" : "unknown key";
      stated = restored;
    },
    remarks: (): Remarks => restores.map(remarkOf),
  };
};

const remarkOf = ({ position, at, name, statedBy }: Restore): string => {
  if (statedBy === "accepted key")
    return `restored from a backup at position ${position} at ${at}: what was recorded after the backup is missing`;
  const doubt =
    statedBy === "no seal"
      ? "no seal says so: anyone who can write to the log can have added it"
      : "the first seal that says so is of a key which no given key endorsed: anyone who can write to the log can have added both";
  return `${name} says that the log was restored from a backup, and ${doubt}, and it explains no missing seal`;
};
