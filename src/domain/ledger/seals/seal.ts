import { hash } from "node:crypto";
import {
  type Checked,
  count,
  type EventOf,
  listOf,
  number,
  object,
  optional,
  text,
  utcTime,
} from "../../shape.ts";
import { canonicalJson, storedJson } from "../journal/canonical.ts";
import { journalPrefix, journalStream } from "../journal/journal.ts";
import { journalRegistryStream } from "../journal/journal-registry.ts";
import { leafHash } from "./merkle.ts";
import type { ProvenEvent } from "./proven-event.ts";

/** The last event of a journal at or before the seal's position. */
const journalHead = object({
  journal: text,
  revision: count,
  /**
   * SHA-256 (hex) of the event's canonical form. The event contains the digest of its predecessor,
   * so this digest covers type and data of all earlier events of the journal.
   */
  digest: text,
  /** The `envelopeDigest` of the event. Absent in seals of earlier releases. */
  envelopes: optional(text),
});
export type JournalHead = Checked<typeof journalHead>;

/** A seal key that follows another one. */
const newKey = object({
  /** Its verifier key. */
  key: text,
  /**
   * The `endorsementText` in a note that the key of the seal before has signed. Absent if the
   * sealing process did not have that key.
   */
  endorsement: optional(text),
});

/**
 * Seals of the log. Stream `seals`. All seals sign roots of one Merkle tree that only grows. Each
 * seal appends these leaves: one for every sealed event after the previous seal, in order of
 * position; one for the last event of every journal that may have grown, in order of name; and one
 * for the seal itself.
 */
export const sealShapes = {
  Sealed: {
    /** The seal covers the log up to this position; -1 for an empty log. */
    position: number,
    /**
     * The journals that were open at the previous seal's position or opened since, and that have
     * events.
     */
    journals: listOf(journalHead),
    /** The number of the tree's leaves. */
    size: count,
    /** The hashes (hex) that are needed to append further leaves. */
    edge: listOf(text),
    /** The signed checkpoint of the tree. */
    note: text,
    /** Present if the seal before was signed with another key. Earlier versions ignore it. */
    newKey: optional(newKey),
    at: utcTime,
  },
};
export type SealEvent = EventOf<typeof sealShapes>;
export type Sealed = SealEvent["data"];

export const sealsStream = "seals";

/**
 * The beginnings of the names of sealed streams. Journals are sealed by their last events. Streams
 * that are or may be trimmed or deleted are not sealed: a proof must not depend on removed events.
 */
export const sealedPrefixes = [
  "website-",
  "key-",
  "credentials-",
  "lexicons-",
  "platform-",
  "quota-",
  "usage-",
  "catalog",
  "webhooks",
  "audio",
  "master-key",
  "log",
  journalRegistryStream,
  sealsStream,
] as const;

export const isSealed = (stream: string): boolean =>
  sealedPrefixes.some((prefix) => (prefix.endsWith("-") ? stream.startsWith(prefix) : stream === prefix));

/** True if seals cover the stream, either by each event or by its last one. */
export const isCovered = (stream: string): boolean => isSealed(stream) || stream.startsWith(journalPrefix);

export const eventLeaf = (event: ProvenEvent, toJson = storedJson): Uint8Array => leafHash(toJson(event));

/**
 * Returns the SHA-256 (hex) of those members of a journal's event that the digest of the event
 * leaves out. It also covers these members of all earlier events. `previous`: the result for the
 * event before; null for the first event.
 */
export const envelopeDigest = (
  previous: string | null,
  { position, id, created, metadata }: Pick<ProvenEvent, "position" | "id" | "created" | "metadata">,
): string => hash("sha256", canonicalJson({ position, id, created, metadata, previous }));

export const journalLeaf = ({ journal, revision, digest, envelopes }: JournalHead): Uint8Array =>
  leafHash(canonicalJson({ stream: journalStream(journal), revision, digest, envelopes }));

/** Returns the head as seals of earlier releases contain it. */
export const withoutEnvelopes = ({ journal, revision, digest }: JournalHead): JournalHead => ({
  journal,
  revision,
  digest,
});

/** The seal's own leaf, which covers its position and its time. */
export const sealLeaf = (seal: number, { position, at }: Pick<Sealed, "position" | "at">): Uint8Array =>
  leafHash(canonicalJson({ seal, position, at }));

/** Compares two heads by the order of their leaves. */
export const byJournal = (a: { readonly journal: string }, b: { readonly journal: string }): number =>
  a.journal < b.journal ? -1 : a.journal > b.journal ? 1 : 0;
