import { type FileHandle, open } from "node:fs/promises";

/**
 * The metadata of an ONNX model (`ModelProto.metadata_props`), without reading its weights: the
 * fields of a protobuf message may be skipped by their length.
 * @throws {Error} if the file is missing or not an ONNX model
 */
export const readOnnxMetadata = async (path: string): Promise<Readonly<Record<string, string>>> => {
  await using file = await open(path);
  const { size } = await file.stat();
  const metadata: Record<string, string> = {};
  for (let at = 0; at < size; ) {
    const field = await readField(file, at, size);
    if (field.number === metadataField) {
      if (field.end - field.start > longestEntry) throw notOnnx();
      const [key, value] = entryOf(await bytesAt(file, field.start, field.end - field.start));
      metadata[key] = value;
    }
    at = field.end;
  }
  return metadata;
};

const metadataField = 14;
const longestEntry = 1024 * 1024;
/** The most bytes that a field's tag and length take. */
const headBytes = 20;
const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

interface Field {
  readonly number: number;
  readonly start: number;
  readonly end: number;
}

const readField = async (file: FileHandle, at: number, size: number): Promise<Field> => {
  const field = fieldAt(await bytesAt(file, at, Math.min(headBytes, size - at)), at);
  if (field.end > size || field.end <= at) throw notOnnx();
  return field;
};

const fieldAt = (head: Buffer, at: number): Field => {
  const tag = varint(head, 0);
  const number = Math.floor(tag.value / 8);
  const start = at + tag.end;
  switch (tag.value % 8) {
    case wireTypes.varint:
      return { number, start, end: at + varint(head, tag.end).end };
    case wireTypes.fixed64:
      return { number, start, end: start + 8 };
    case wireTypes.fixed32:
      return { number, start, end: start + 4 };
    case wireTypes.bytes: {
      const length = varint(head, tag.end);
      return { number, start: at + length.end, end: at + length.end + length.value };
    }
    default:
      throw notOnnx();
  }
};

/** Reads values up to 2^53: larger ones are no lengths. */
const varint = (bytes: Buffer, at: number): { readonly value: number; readonly end: number } => {
  let value = 0;
  for (let index = at; index < bytes.length && index < at + 10; index++) {
    const byte = bytes[index] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (index - at));
    if (byte < 0x80) return { value, end: index + 1 };
  }
  throw notOnnx();
};

/** A `StringStringEntryProto`: key and value. */
const entryOf = (entry: Buffer): [key: string, value: string] => {
  const texts = ["", "", ""];
  for (let at = 0; at < entry.length; ) {
    const { number, start, end } = fieldAt(entry.subarray(at, at + headBytes), at);
    if (end > entry.length) throw notOnnx();
    if (number < texts.length) texts[number] = entry.toString("utf8", start, end);
    at = end;
  }
  return [texts[1] ?? "", texts[2] ?? ""];
};

const bytesAt = async (file: FileHandle, at: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, at);
  if (bytesRead < length) throw notOnnx();
  return bytes;
};

const notOnnx = (): Error => new Error("The file is not an ONNX model.");
