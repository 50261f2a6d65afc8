import { jsonEvent, type ResolvedEvent } from "@eventstore/db-client";
import type { EventMetadata, NewEvent, RecordedEvent } from "../event-store.ts";
import { maxEventBytes, stringifyObject, validateEventIds } from "../event-validation.ts";

declare global {
  interface JSON {
    /**
     * A value that `JSON.stringify` writes as the given text
     * (https://tc39.es/proposal-json-parse-with-source).
     */
    rawJSON(text: string): object;
  }
}

/**
 * A position as a number. Commit and prepare position are equal for every append over gRPC, and
 * 2^53 bytes (8 PiB) exceed every log.
 */
export const fromClientPosition = ({ commit }: { readonly commit: bigint }): number => {
  if (commit > Number.MAX_SAFE_INTEGER) throw new RangeError(`the log position ${commit} exceeds 2^53`);
  return Number(commit);
};

export const toClientPosition = (position: number): { commit: bigint; prepare: bigint } => ({
  commit: BigInt(position),
  prepare: BigInt(position),
});

/** The port's form of an event; undefined for a link whose event was deleted. */
export const toRecordedEvent = ({ event }: ResolvedEvent): RecordedEvent | undefined => {
  if (!event) return undefined;
  const { id, type, streamId, revision, created, isJson } = event;
  return {
    id,
    type,
    // Another program's data may be any JSON value, or not JSON: then it is given as base64.
    data: (isJson ? event.data : Buffer.from(event.data as Uint8Array).toString("base64")) as object,
    metadata: fromServerMetadata(event.metadata),
    stream: streamId,
    revision: Number(revision),
    position: fromClientPosition(event.position ?? { commit: 0n }),
    created: created.getTime(),
  };
};

export type ClientEvent = ReturnType<typeof toClientEvent>["event"];

/**
 * Validates the events and returns the client's form of them. Validation comes first because an
 * append hangs if the client cannot write its events as JSON.
 * @throws {TypeError} if there is no event, an id is not a UUID or occurs twice, or data or
 * metadata is not a JSON object
 * @throws {RangeError} if they exceed 1 MiB in all, the server's default limit for one append
 */
export const toClientEvents = (events: readonly NewEvent[]): { events: ClientEvent[]; bytes: number } => {
  const ids = validateEventIds(events);
  const converted = events.map((event, index) => toClientEvent(event, ids[index] ?? ""));
  const bytes = converted.reduce((sum, event) => sum + event.bytes, 0);
  if (bytes > maxEventBytes) throw new RangeError(`an append is limited to ${maxEventBytes} bytes`);
  return { events: converted.map(({ event }) => event), bytes };
};

const toClientEvent = ({ type, data, metadata }: NewEvent, id: string) => {
  const escaped = escapeData(data);
  // The client would write a Buffer as JSON, but sends a plain Uint8Array unchanged.
  const metadataBytes = new TextEncoder().encode(escapeJson(stringifyObject(toServerMetadata(metadata))));
  return {
    event: jsonEvent({ id, type, data: escaped.data, metadata: metadataBytes }),
    bytes: type.length * 2 + metadataBytes.length + escaped.bytes,
  };
};

/** EventStoreDB's projections and tools know correlation and causation by these names. */
const toServerMetadata = ({ correlationId, causationId, ...rest }: EventMetadata): object => ({
  ...rest,
  ...(correlationId !== undefined && { $correlationId: correlationId }),
  ...(causationId !== undefined && { $causationId: causationId }),
});

const fromServerMetadata = (metadata: NonNullable<ResolvedEvent["event"]>["metadata"]): EventMetadata => {
  if (typeof metadata !== "object" || metadata === null || metadata instanceof Uint8Array) return {};
  const { $correlationId, $causationId, ...rest } = metadata as Record<string, string>;
  return {
    ...rest,
    ...($correlationId !== undefined && { correlationId: $correlationId }),
    ...($causationId !== undefined && { causationId: $causationId }),
  };
};

/**
 * JSON may contain U+2028 and U+2029 unescaped, string literals of ECMAScript before 2019 may not:
 * such an event faults a server's projection permanently (measured on EventStoreDB 24.2 and
 * KurrentDB 26.0).
 */
const lineSeparators = /[\u2028\u2029]/;

const escapeJson = (json: string): string =>
  json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

/**
 * Returns the data in a form for which the client's `JSON.stringify` escapes U+2028 and U+2029, and
 * the length of its JSON.
 * @throws {TypeError} if the data is not a JSON object, or a property's name contains one of them:
 * `JSON.rawJSON` can escape values only
 */
const escapeData = (data: object): { data: Record<string, unknown>; bytes: number } => {
  const json = stringifyObject(data);
  if (!lineSeparators.test(json))
    return { data: data as Record<string, unknown>, bytes: Buffer.byteLength(json) };
  const escaped = JSON.parse(json, (name, value) => {
    if (lineSeparators.test(name)) throw new TypeError("a property's name contains U+2028 or U+2029");
    const mustEscape = typeof value === "string" && lineSeparators.test(value);
    return mustEscape ? JSON.rawJSON(escapeJson(JSON.stringify(value))) : value;
  });
  return { data: escaped, bytes: Buffer.byteLength(escapeJson(json)) };
};
