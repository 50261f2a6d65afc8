import { createHash, hash } from "node:crypto";
import { journalStream } from "../../domain/ledger/journal/journal.ts";
import { createExportReader, readLines } from "../../domain/ledger/proof/export-lines.ts";
import { NotGenuine, nameOf } from "../../domain/ledger/proof/not-genuine.ts";
import type { ReadOptions, RecordedEvent } from "../../eventstore/event-store.ts";
import { type ArchiveFile, addTo, type FoundArchive } from "../proof/archive-files.ts";

/** An archive that is read at any place. */
export interface SeekableArchive extends ArchiveFile {
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** The events of an archive. Memory: some tens of bytes for each of them. */
export interface IndexedArchive {
  /** The streams of its journals. */
  readonly streams: ReadonlySet<string>;
  readStream(stream: string, options: ReadOptions): AsyncGenerator<RecordedEvent, void, undefined>;
  /** Yields the events in the order of their positions. */
  readAfter(
    position: number,
    isIncluded: (stream: string) => boolean,
  ): AsyncGenerator<RecordedEvent, void, undefined>;
  eventAt(position: number): Promise<RecordedEvent | undefined>;
}

/** At the same index: the event's position, where its line begins, and its line's digest. */
interface Lines {
  readonly positions: number[];
  readonly offsets: number[];
  readonly digests: number[];
  readonly streams: string[];
  readonly byStream: ReadonlyMap<string, number[]>;
}

/**
 * Reads the file of an archive once, and compares its digest with that in the log.
 * @throws {NotGenuine}
 * @throws the errors of `open`, and later of `read`
 */
export const indexArchive = async (
  file: SeekableArchive,
  archive: FoundArchive["archive"],
): Promise<IndexedArchive> => {
  const lines = await readIndex(file, archive);
  const { positions, byStream } = lines;
  const read = (index: number): Promise<RecordedEvent> => readLine(file, lines, index);
  return {
    streams: new Set(byStream.keys()),
    async *readStream(
      stream,
      { direction = "forwards", fromInclusive, limit = Number.POSITIVE_INFINITY, signal },
    ) {
      const indexes = byStream.get(stream) ?? [];
      const isForwards = direction === "forwards";
      const first = isForwards
        ? (fromInclusive ?? 0)
        : Math.min(fromInclusive ?? Number.POSITIVE_INFINITY, indexes.length - 1);
      for (let count = 0; count < limit; count++) {
        const index = indexes[isForwards ? first + count : first - count];
        if (index === undefined) return;
        signal?.throwIfAborted();
        yield await read(index);
      }
    },
    async *readAfter(position, isIncluded) {
      for (let index = indexAfter(positions, position); index < positions.length; index++)
        if (isIncluded(lines.streams[index] as string)) yield await read(index);
    },
    eventAt: async (position) => {
      const index = indexAfter(positions, position - 1);
      return positions[index] === position ? await read(index) : undefined;
    },
  };
};

const readIndex = async (file: SeekableArchive, archive: FoundArchive["archive"]): Promise<Lines> => {
  const names = new Map(archive.journals.map((journal) => [journalStream(journal), [] as number[]]));
  const streams = new Map([...names.keys()].map((stream) => [stream, stream]));
  const lines = { positions: [], offsets: [0], digests: [], streams: [], byStream: names } as Lines;
  const digest = createHash("sha256");
  // The log names the digest of all bytes, so it does not matter who signed their end.
  const reader = createExportReader(() => {});
  let offset = 0;
  for await (const line of readLines(addTo(digest, file.open()))) {
    const event = reader.read(line)?.event;
    offset += line.length + 1;
    if (!event) continue;
    const ofStream = names.get(event.stream);
    if (ofStream?.length !== event.revision || event.position <= (lines.positions.at(-1) ?? -1))
      throw new NotGenuine(`${nameOf(event)} in ${file.path} is not the next event of the archive`);
    ofStream.push(lines.positions.length);
    lines.positions.push(event.position);
    lines.offsets.push(offset);
    lines.digests.push(shortDigest(line));
    lines.streams.push(streams.get(event.stream) as string);
  }
  reader.end();
  if (digest.digest("hex") !== archive.file) throw changed(file);
  return lines;
};

/** The first 48 bits of the digest of a line: enough to notice that the file was changed since. */
const shortDigest = (line: Uint8Array): number => Number.parseInt(hash("sha256", line).slice(0, 12), 16);

const changed = ({ path }: SeekableArchive): NotGenuine =>
  new NotGenuine(`the archive ${path} was changed while it was read`);

const readLine = async (file: SeekableArchive, lines: Lines, index: number): Promise<RecordedEvent> => {
  const [start, end] = [lines.offsets[index] as number, lines.offsets[index + 1] as number];
  const line = await file.read(start, end - start - 1);
  if (shortDigest(line) !== lines.digests[index]) throw changed(file);
  const { digest, line: number, ...event } = JSON.parse(Buffer.from(line).toString());
  return event;
};

/** The index of the first higher position. */
const indexAfter = (positions: readonly number[], position: number): number => {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle] as number) > position) high = middle;
    else low = middle + 1;
  }
  return low;
};
