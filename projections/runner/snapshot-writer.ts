export interface SnapshotWriter {
  /**
   * Notes that events were folded. Begins to write when `every` events have come since the last snapshot began, none is
   * being written, and the views have caught up with the log.
   */
  folded(events: number, caughtUp: boolean): void;
  /** Resolves when the part that is being written is whole. Nothing is written after that. */
  close(): Promise<void>;
}

/** Writes the parts of a snapshot one after the other; at most one snapshot at a time. */
export const createSnapshotWriter = <Part>({
  parts,
  every,
  write,
}: {
  parts: readonly Part[];
  every: number;
  /** Must not reject. */
  write: (part: Part) => Promise<void>;
}): SnapshotWriter => {
  let events = 0;
  let closed = false;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    events = 0;
    for (const part of parts) if (!closed) await write(part);
  };

  return {
    folded: (count, caughtUp) => {
      events += count;
      if (!caughtUp || closed || writing || events < every) return;
      writing = writeAll().finally(() => {
        writing = undefined;
      });
    },
    close: async () => {
      closed = true;
      await writing;
    },
  };
};
