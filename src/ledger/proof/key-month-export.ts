import pLimit from "p-limit";
import { joinIntoChunks } from "../../async/chunks.ts";
import { keyStream } from "../../domain/accounts/key.ts";
import { NotFound, Unavailable } from "../../domain/errors.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import type { UsageAccountEvent } from "../../domain/ledger/accounts/usage-account.ts";
import { journalPrefix, journalStream } from "../../domain/ledger/journal/journal.ts";
import { month as monthName } from "../../domain/ledger/period.ts";
import { createExportWriter } from "../../domain/ledger/proof/export-lines.ts";
import { type KeyMonth, keyMonthStreams } from "../../domain/ledger/proof/key-month-verifier.ts";
import type { QuotaEvent } from "../../domain/ledger/quota/quota.ts";
import { createProofBuilder, type InclusionProof } from "../../domain/ledger/seals/merkle-proof.ts";
import type { NoteSigner } from "../../domain/ledger/seals/note-signer.ts";
import { provenEvent } from "../../domain/ledger/seals/proven-event.ts";
import {
  eventLeaf,
  type JournalHead,
  journalLeaf,
  type SealEvent,
  sealLeaf,
  sealsStream,
} from "../../domain/ledger/seals/seal.ts";
import type { EpochMs } from "../../domain/time.ts";
import { parse } from "../../domain/validation.ts";
import { type EventStore, type RecordedEvent, readEvent } from "../../eventstore/event-store.ts";
import { toUnavailable } from "../../eventstore/store-error.ts";
import { cursorOf, mergeByPosition } from "../audit/event-cursor.ts";
import { listOpenJournals } from "../journal/journal-registry.ts";
import { requireNotArchived } from "../journal/missing-journals.ts";
import { sealIntervalMs } from "./seal-schedule.ts";
import { readLastSealEvent, readSealedEvents } from "./sealed-log.ts";
import type { Seals } from "./seals.ts";

interface KeyMonthRequest {
  readonly apiKey: string;
  /** `yyyy-mm`, UTC. Default: the current month. */
  readonly month?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Seals the log if that is due. Yields an export that proves one key's month as of the last seal,
 * as text in chunks of complete lines. `createKeyMonthVerifier` verifies it. Reads the sealed
 * streams of the whole log once, to prove that the seal covers the events.
 * @throws {Invalid} for a bad month
 * @throws {NotFound} for a key that was never issued
 * @throws {Archived} before the first chunk, if one of the journals was deleted after it was
 * archived; later only if one is deleted meanwhile
 * @throws as `Seals.sealIfDue` does
 * @throws {Unavailable} when the event store cannot be read
 */
export type ExportKeyMonth = (request: KeyMonthRequest) => AsyncIterable<string>;

type Seal = RecordedEvent & SealEvent;

/** Each pass reads the sealed streams of the whole log. */
const maxConcurrentPasses = 1;
const maxConcurrentReads = 8;

export const createKeyMonthExport = ({
  store,
  seals,
  signer,
  clock,
}: {
  readonly store: EventStore;
  readonly seals: Pick<Seals, "sealIfDue">;
  readonly signer: NoteSigner;
  readonly clock: () => EpochMs;
}): ExportKeyMonth => {
  const limit = pLimit(maxConcurrentPasses);

  return async function* ({
    apiKey,
    month: requested = new Date(clock()).toISOString().slice(0, 7),
    signal,
  }) {
    const keyMonth = { apiKey, month: parse(monthName, requested) };
    try {
      await requireKey(store, apiKey);
      await seals.sealIfDue(sealIntervalMs, { actor: "system" }, signal);
      const seal = await lastSeal(store);
      const journals = await journalsOf(store, keyMonth, seal.data.position);
      const proofs = await limit(() => {
        signal?.throwIfAborted();
        return proveInclusion(store, seal, { streams: keyMonthStreams(keyMonth), journals, signal });
      });
      yield* joinIntoChunks(exportLines(store, { keyMonth, seal, journals, proofs, signer, signal }));
    } catch (error) {
      throw toUnavailable(error);
    }
  };
};

const lastSeal = async (store: EventStore): Promise<Seal> => {
  const seal = await readLastSealEvent(store);
  if (seal && isSeal(seal)) return seal;
  throw new Unavailable("The last seal of the log is malformed.", 60);
};

const requireKey = async (store: EventStore, apiKey: string): Promise<void> => {
  if (!(await readEvent(store, keyStream(apiKey)))) throw new NotFound("There is no such key.");
};

const isSeal = (event: RecordedEvent): event is Seal => isOfType<SealEvent, RecordedEvent>(event, ["Sealed"]);

/** The journals that the account and the quota name, and those that were open at the position. */
const journalsOf = async (
  store: EventStore,
  keyMonth: KeyMonth,
  upTo: number,
): Promise<ReadonlySet<string>> => {
  const journals = new Set<string>();
  const [, account = "", quota = ""] = keyMonthStreams(keyMonth);
  for (const stream of [account, quota]) {
    for await (const event of store.readStream(stream)) {
      if (event.position > upTo) break;
      if (namesUsedJournal(event)) journals.add(event.data.journal);
    }
  }
  for (const journal of await listOpenJournals(store, upTo)) journals.add(journal);
  return journals;
};

const typesWithUsedJournal = [
  "UsagePosted",
  "CharactersReserved",
  "ReservationReturned",
  "ReservationSettled",
] as const;

type UseOfJournal = Extract<
  UsageAccountEvent | QuotaEvent,
  { readonly type: (typeof typesWithUsedJournal)[number] }
>;

/** A journal that only recalls reservations may have no entries of the key. */
const namesUsedJournal = (event: RecordedEvent): event is RecordedEvent & UseOfJournal =>
  isOfType<UseOfJournal, RecordedEvent>(event, typesWithUsedJournal);

interface Selection {
  readonly streams: readonly string[];
  readonly journals: ReadonlySet<string>;
  readonly signal?: AbortSignal | undefined;
}

const nameOfEvent = (stream: string, revision: number): string => `${stream} ${revision}`;

/** Builds the tree of the seal. Returns the proofs by the names of their events. */
const proveInclusion = async (
  store: EventStore,
  last: Seal,
  { streams, journals, signal }: Selection,
): Promise<ReadonlyMap<string, InclusionProof>> => {
  const builder = createProofBuilder();
  const followed = new Set(streams);
  const seals = sealsUpTo(store, last);
  let seal: Seal | undefined = (await seals.next()).value;

  const addHead = (head: JournalHead): void => {
    const name = nameOfEvent(journalStream(head.journal), head.revision);
    builder.add(journalLeaf(head), journals.has(head.journal) ? name : undefined);
  };
  const addSeal = async ({ revision, data }: Seal): Promise<void> => {
    for (const head of data.journals) addHead(head);
    builder.add(sealLeaf(revision, data));
    seal = (await seals.next()).value;
  };

  for await (const event of readSealedEvents(store)) {
    signal?.throwIfAborted();
    while (seal && event.position > seal.data.position) await addSeal(seal);
    if (!seal) break;
    const { stream, revision } = event;
    builder.add(
      eventLeaf(provenEvent(event)),
      followed.has(stream) ? nameOfEvent(stream, revision) : undefined,
    );
  }
  while (seal) await addSeal(seal);
  return builder.proofs();
};

async function* sealsUpTo(store: EventStore, last: Seal): AsyncGenerator<Seal, undefined> {
  for await (const event of store.readStream(sealsStream, { limit: last.revision + 1 })) {
    if (isSeal(event)) yield event;
  }
  return undefined;
}

interface ExportParts {
  readonly keyMonth: KeyMonth;
  readonly seal: Seal;
  readonly journals: ReadonlySet<string>;
  readonly proofs: ReadonlyMap<string, InclusionProof>;
  readonly signer: NoteSigner;
  readonly signal: AbortSignal | undefined;
}

async function* exportLines(
  store: EventStore,
  { keyMonth, seal, journals, proofs, signer, signal }: ExportParts,
): AsyncGenerator<string> {
  const writer = createExportWriter(signer);
  yield writer.add(provenEvent(seal));
  const streams = [
    ...keyMonthStreams(keyMonth),
    ...[...journals].map((journal) => `${journalPrefix}${journal}`),
  ];
  await requireNotArchived(store, streams);
  const reads = pLimit(maxConcurrentReads);
  const cursors = await Promise.all(
    streams.map((stream) =>
      reads(async () =>
        cursorOf(await readEvent(store, stream), () =>
          store.readStream(stream, { fromInclusive: 1, ...(signal && { signal }) }),
        ),
      ),
    ),
  );
  for await (const event of mergeByPosition(cursors)) {
    signal?.throwIfAborted();
    if (event.position > seal.data.position) break;
    yield writer.add(provenEvent(event), proofs.get(nameOfEvent(event.stream, event.revision)));
  }
  await requireNotArchived(store, streams); // they may have been deleted meanwhile
  yield writer.end();
}
