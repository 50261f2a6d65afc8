import { createHash, hash } from "node:crypto";
import { concatBytes, fromBase64, toBase64 } from "../../bytes.ts";
import { storedJson } from "../journal/canonical.ts";
import type { InclusionProof } from "../seals/merkle-proof.ts";
import type { NoteSigner } from "../seals/note-signer.ts";
import type { ProvenEvent } from "../seals/proven-event.ts";
import { type NoteVerifier, openNote } from "../seals/seal-note.ts";
import { NotGenuine, nameOf } from "./not-genuine.ts";

/*
 * An export is NDJSON. Each line is an event in canonical JSON with the line's number, from 0, and
 * a digest of both, so that a verification can name the first line that was edited. The last line
 * is a signed note of all bytes before it. In an export of a part of the log, the lines of sealed
 * events also have a proof that the sealed tree includes them.
 */

export interface ExportedEvent {
  readonly event: ProvenEvent;
  readonly inclusion?: InclusionProof | undefined;
}

interface ExportEnd {
  readonly lines: number;
  readonly note: string;
}

const noteText = (name: string, lines: number, digest: Uint8Array): string =>
  `${name} export\n${lines}\n${toBase64(digest)}\n`;

const endText = ({ lines, note }: ExportEnd): string => JSON.stringify({ lines, note });

export const createExportWriter = (signer: NoteSigner) => {
  const bytes = createHash("sha256");
  let lines = 0;
  return {
    add: (event: ProvenEvent, inclusion?: InclusionProof): string => {
      const proof = inclusion && { index: inclusion.index, path: inclusion.path.map(toBase64) };
      const json = storedJson({ ...event, inclusion: proof, line: lines });
      const text = `{"digest":"${hash("sha256", json)}",${json.slice(1)}\n`;
      bytes.update(text);
      lines += 1;
      return text;
    },
    end: (): string => {
      const note = signer.sign(noteText(signer.name, lines, bytes.digest()));
      return `${endText({ lines, note })}\n`;
    },
  };
};

const digestMember = /^\{"digest":"([0-9a-f]{64})",/;
const endMember = '{"lines":';
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder();

/** Checks the signed note at the end of an export with this number of lines and this digest. */
type CheckEnd = (note: string, lines: number, digest: Uint8Array) => void;

/**
 * The check of exports that one of the keys must have signed.
 * `readKeys`: called after all events have been returned.
 * `explain`: called if none of the keys signed the export. It may throw an error that explains why.
 */
export const signedWith =
  (readKeys: () => readonly NoteVerifier[], explain: () => unknown = () => {}): CheckEnd =>
  (note, lines, digest) => {
    const keys = readKeys();
    const signed = openNote(note, keys);
    if (signed === undefined) {
      explain();
      throw new NotGenuine("the end of the export is not signed with a given key");
    }
    if (!keys.some(({ name }) => signed === noteText(name, lines, digest))) {
      throw new NotGenuine(`the export's signature is for other lines than these ${lines}`);
    }
  };

/** Reads an export line by line. */
export const createExportReader = (requireSigned: CheckEnd) => {
  const bytes = createHash("sha256");
  let last: ProvenEvent | undefined;
  let lines = 0;
  let hasEnded = false;

  const checkEnd = (text: string): void => {
    const { note } = parse(text) as Partial<ExportEnd>;
    requireSigned(String(note), lines, bytes.digest());
    if (text !== endText({ lines, note: String(note) }))
      throw new NotGenuine("the end of the export was changed");
    hasEnded = true;
  };

  return {
    /**
     * The event of a line, without its newline; undefined for the last line.
     * @throws {NotGenuine}
     */
    read: (line: Uint8Array): ExportedEvent | undefined => {
      if (hasEnded) throw new NotGenuine(`line ${lines + 1} follows the end of the export`);
      const text = decode(line, lines);
      if (text.startsWith(endMember)) {
        checkEnd(text);
        return undefined;
      }
      const exported = parseLine(text, lines, last);
      bytes.update(line).update("\n");
      lines += 1;
      last = exported.event;
      return exported;
    },
    /** @throws {NotGenuine} */
    end: (): void => {
      if (!hasEnded)
        throw new NotGenuine(`the export was cut off after ${last ? nameOf(last) : "its beginning"}`);
    },
  };
};

const decode = (line: Uint8Array, index: number): string => {
  try {
    return decoder.decode(line);
  } catch {
    throw new NotGenuine(`line ${index} was changed: it is not UTF-8`);
  }
};

const parseLine = (text: string, index: number, last: ProvenEvent | undefined): ExportedEvent => {
  const [prefix = "", digest] = digestMember.exec(text) ?? [];
  const json = `{${text.slice(prefix.length)}`;
  const { line, inclusion, ...event } = parse(json) as Partial<ProvenEvent> & LineMembers;
  const name = isProvenEvent(event) ? nameOf(event) : "an unknown event";
  if (
    digest === undefined ||
    hash("sha256", json) !== digest ||
    line === undefined ||
    !isProvenEvent(event)
  ) {
    throw new NotGenuine(`line ${index} was changed: ${name}`);
  }
  if (line > index) {
    const place = last ? `after ${nameOf(last)}` : "at the beginning";
    throw new NotGenuine(`line ${index} is missing ${place}: line ${line} follows, ${name}`);
  }
  if (line < index)
    throw new NotGenuine(`line ${line} was doubled, moved or added at line ${index}: ${name}`);
  return { event, inclusion: inclusion && parseInclusion(inclusion) };
};

/**
 * The members that a line has in addition to those of its event. The digest of the line was
 * compared, so the exporter wrote these members.
 */
interface LineMembers {
  readonly line?: number;
  readonly inclusion?: { readonly index: number; readonly path: readonly string[] };
}

const parseInclusion = ({ index, path }: NonNullable<LineMembers["inclusion"]>): InclusionProof => ({
  index,
  path: [path].flat().map((hash) => fromBase64(String(hash)) ?? new Uint8Array()),
});

const parse = (json: string): object => {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
};

const isProvenEvent = (event: Partial<ProvenEvent>): event is ProvenEvent =>
  [event.position, event.revision].every((number) => Number.isSafeInteger(number)) &&
  Number.isFinite(event.created) &&
  [event.stream, event.id, event.type].every((text) => typeof text === "string") &&
  event.data !== undefined &&
  event.metadata !== undefined;

/** Canonical JSON is sorted: a line ends with the event's revision, stream and type. */
const maxEndBytes = 512;

/**
 * True for the lines of seals, archives and first events of journals, which must be known before
 * the others are verified, and for a few others.
 */
export const isNeededFirst = (line: Uint8Array): boolean => {
  const text = lenient.decode(line.subarray(-maxEndBytes));
  return ['"stream":"seals"', '"type":"JournalsArchived"', '"revision":0,"stream":"journal-'].some((part) =>
    text.includes(part),
  );
};

/** The event of a line, unchecked: `read` checks all lines. Undefined if there is none. */
export const peekEvent = (line: Uint8Array): ProvenEvent | undefined => {
  const event = parse(lenient.decode(line)) as Partial<ProvenEvent>;
  return isProvenEvent(event) ? event : undefined;
};

const newline = 0x0a;
/** No event is this long, because event stores accept less. */
const maxLineBytes = 64 * 1024 * 1024;

/**
 * The lines, without their newlines.
 * @throws {NotGenuine} if the last one has no newline, or one is too long
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let lines = 0;
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      yield concatBytes(...parts, chunk.subarray(start, end));
      lines += 1;
      [parts, length, start] = [[], 0, end + 1];
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > maxLineBytes) throw new NotGenuine(`line ${lines} is too long`);
  }
  if (length > 0) throw new NotGenuine(`the export was cut off in line ${lines}`);
}
