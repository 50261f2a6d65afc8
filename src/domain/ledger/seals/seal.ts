import { canonicalJson } from "../canonical.ts";
import { journalStream } from "../journal.ts";
import { journalRegistryStream } from "../journal-registry.ts";
import type { ProvenEvent } from "../proven-event.ts";
import { leafHash } from "./merkle.ts";

/**
 * Seals of the log. Stream `seals`. All seals sign roots of one Merkle tree that only grows. Each seal appends a leaf for
 * every sealed event after the previous seal, in order of position; a leaf for the last event of every journal that may have
 * grown, in order of name; and a leaf for the seal itself.
 */
export interface SealEvent {
  readonly type: "Sealed";
  readonly data: Sealed;
}

export interface Sealed {
  /** The seal covers the log up to this position; -1 for an empty log. */
  readonly position: number;
  /** The journals that were open at the previous seal's position or opened since, and that have events. */
  readonly journals: readonly JournalHead[];
  /** The number of the tree's leaves. */
  readonly size: number;
  /** The hashes (hex) that are needed to append further leaves. */
  readonly edge: readonly string[];
  /** The signed checkpoint of the tree. */
  readonly note: string;
  /** ISO 8601, UTC. */
  readonly at: string;
}

/** The last event of a journal at or before the seal's position. */
export interface JournalHead {
  readonly journal: string;
  readonly revision: number;
  /** SHA-256 (hex) of its canonical form. With the chain, it covers all earlier events of the journal. */
  readonly digest: string;
}

export const sealsStream = "seals";

/**
 * The beginnings of the names of sealed streams. Journals are sealed by their last events. Streams that are or may be
 * trimmed are not sealed: a proof must not depend on removed events.
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

export const eventLeaf = (event: ProvenEvent): Uint8Array => leafHash(canonicalJson(event));

export const journalLeaf = ({ journal, revision, digest }: JournalHead): Uint8Array =>
  leafHash(canonicalJson({ stream: journalStream(journal), revision, digest }));

/** Covers the position and the time of a seal. */
export const sealLeaf = (seal: number, { position, at }: Pick<Sealed, "position" | "at">): Uint8Array =>
  leafHash(canonicalJson({ seal, position, at }));

/** In the order of their leaves. */
export const byJournal = (a: { readonly journal: string }, b: { readonly journal: string }): number =>
  a.journal < b.journal ? -1 : a.journal > b.journal ? 1 : 0;
