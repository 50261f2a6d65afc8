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
  /** True once a seal states the restore. Anyone who can write to the log can forge the event. */
  isSigned: boolean;
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
 * the log, and their sizes may return with other roots. Only a restore that a seal states explains
 * anything, and only the loss of seals that do not state it themselves.
 */
export const createRestoreCheck = () => {
  const restores: Restore[] = [];
  let lastPosition = -1;
  let lastSeal: Sealed | undefined;
  /** The restore that the last seal states. */
  let stated: string | undefined;

  const isExplaining =
    ({ size, restored }: Checkpoint) =>
    ({ isSigned, sealedSize, at }: Restore): boolean =>
      isSigned && size > sealedSize && (restored === undefined || restored < at);

  return {
    /** Returns what is missing with this seal, if a restore has lost it. */
    explain: (kept: Checkpoint): MissingSeal | undefined => {
      const restore = restores.find(isExplaining(kept));
      return restore && { position: restore.position, events: Math.max(1, kept.size - restore.size) };
    },
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
      restores.push({ position, at, name: nameOf(event), ...sizes, isMisplaced, isSigned: false });
    },
    /**
     * Call it for each seal. Each later seal repeats what it states, so the key of the last one
     * signs that.
     * @throws {NotGenuine} if it states a restore other than the last one in place before it
     */
    addSeal: (event: ProvenEvent & SealEvent, { restored }: Checkpoint): void => {
      lastSeal = event.data;
      if (restored === stated) return;
      const restore = restores.findLast(({ isMisplaced }) => !isMisplaced);
      if (restored === undefined || restore?.at !== restored)
        throw new NotGenuine(`${nameOf(event)} does not state the last restore of the log`);
      restore.isSigned = true;
      stated = restored;
    },
    remarks: (): Remarks =>
      restores.map(({ position, at, name, isSigned }) =>
        isSigned
          ? `restored from a backup at position ${position} at ${at}: what was recorded after the backup is missing`
          : `${name} says that the log was restored from a backup, and no seal says so: anyone who can write to the log can have added it, and it explains no missing seal`,
      ),
  };
};
