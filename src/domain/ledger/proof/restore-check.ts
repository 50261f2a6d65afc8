import { isOfType } from "../../event-shapes.ts";
import { type LogEvent, logStream } from "../../log-format.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import type { Checkpoint } from "../seals/seal-note.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";
import type { Remarks } from "./time-check.ts";

type LogRestored = Extract<LogEvent, { type: "LogRestored" }>;

interface Restore {
  readonly position: number;
  readonly at: string;
  /** The sizes of the tree before the restore: of all events, and of the last seal. */
  readonly size: number;
  readonly sealedSize: number;
}

/**
 * Finds what restores from backups explain: seals that were made after the backup are missing from
 * the log, and their sizes may return with other roots.
 */
export const createRestoreCheck = () => {
  const restores: Restore[] = [];
  let lastPosition = -1;

  /** Returns the restore that has lost this seal, if it is not in the log. */
  const explaining = ({ size }: Checkpoint): Restore | undefined =>
    restores.findLast(({ sealedSize }) => size > sealedSize);

  return {
    explaining,
    /**
     * Call it for each event before its leaf is appended to the tree.
     * @throws {NotGenuine} if an event states a backup that did not end where the log continues
     */
    add: (event: ProvenEvent, sizes: Pick<Restore, "size" | "sealedSize">): void => {
      const before = lastPosition;
      lastPosition = event.position;
      if (event.stream !== logStream || !isOfType<LogRestored, ProvenEvent>(event, ["LogRestored"])) return;
      const { position, at } = event.data;
      if (position < before || position >= event.position)
        throw new NotGenuine(`${nameOf(event)} names a position at which the log does not continue`);
      restores.push({ position, at, ...sizes });
    },
    /** `lost`: a kept seal that is not in the log. */
    remarks: (lost: Checkpoint | undefined): Remarks =>
      restores.map((restore) => {
        const { position, at, size } = restore;
        const restored = `restored from a backup at position ${position}`;
        if (!lost || explaining(lost) !== restore)
          return `${restored} at ${at}: what was recorded after the backup is missing`;
        return `${restored}; ${Math.max(1, lost.size - size)} events are missing that the kept seal covers`;
      }),
  };
};
