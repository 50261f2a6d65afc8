import {
  boolean,
  count,
  integer,
  listOf,
  nullable,
  number,
  object,
  optional,
  record,
  type ShapesOf,
  text,
  utcTime,
} from "../shape.ts";
import type { IdempotencyEvent } from "./idempotency.ts";
import type { JournalEvent, ServingDetails, SoundServed } from "./journal.ts";
import type { JournalRegistryEvent } from "./journal-registry.ts";
import type { QuotaEvent, SpentTotal } from "./quota.ts";
import type { RateEvent } from "./rate.ts";
import type { JournalHead, SealEvent } from "./seals/seal.ts";
import type { Idempotency, StreamEnd, VoidedServing } from "./serving.ts";
import type { UsageAccountEvent, UsageCell, UsageCount } from "./usage-accounts/usage-account.ts";

const at = utcTime;
const journalTotal = { journal: text, total: integer, at };
const idempotency = optional(object<Idempotency>({ key: text, request: text }));
const previous = nullable(text);
const journalListed = { journal: text, open: listOf(text), at };
const soundServed = object<SoundServed>({ hash: text, engine: text, voice: text, lang: text, format: text });
const streamEnd = object<StreamEnd>({
  apiKey: text,
  requestId: text,
  hash: text,
  outcome: text,
  bytes: count,
  chunks: count,
});
const servingDetails = object<ServingDetails>({
  partial: optional(boolean),
  stream: optional(text),
  idempotency,
  repeat: optional(boolean),
  failed: optional(listOf(text)),
  traceparent: optional(text),
});
const voidedServing = object<VoidedServing>({
  apiKey: text,
  requestId: text,
  characters: count,
  hash: text,
  engine: text,
  voice: text,
  servedAt: utcTime,
  journal: optional(text),
  reason: text,
});
const usageCount = object<UsageCount>({ requests: integer, characters: integer });
const usageCell = object<UsageCell>({
  day: text,
  engine: text,
  voice: text,
  requests: integer,
  characters: integer,
});

export const rateShapes: ShapesOf<RateEvent> = {
  RequestsCounted: { minute: count, keys: listOf(text), counts: listOf(count), at },
};

export const usageAccountShapes: ShapesOf<UsageAccountEvent> = {
  UsagePosted: {
    journal: text,
    from: count,
    through: count,
    ranges: listOf(count),
    digest: text,
    requests: integer,
    characters: integer,
    voided: usageCount,
    cells: listOf(usageCell),
    balance: usageCount,
    until: utcTime,
    at,
  },
  QuotaThresholdCrossed: { threshold: count, characters: count, quota: count, at },
  AccountClosed: { requests: integer, characters: integer, voided: usageCount, digest: text, at },
};

export const ledgerShapes: ShapesOf<
  IdempotencyEvent | JournalEvent | JournalRegistryEvent | QuotaEvent | SealEvent
> = {
  IdempotencyKeyUsed: {
    requestId: text,
    request: text,
    repeat: optional(boolean),
    recovered: optional(boolean),
    at,
  },
  IdempotencyKeyReleased: { requestId: text, at },
  CharactersReserved: journalTotal,
  ReservationReturned: journalTotal,
  ReservationSettled: journalTotal,
  ReservationsRecalled: { journal: text, at },
  UsageCarriedOver: { totals: listOf(object<SpentTotal>({ journal: text, total: integer })), at },
  Sealed: {
    position: number,
    journals: listOf(object<JournalHead>({ journal: text, revision: count, digest: text })),
    size: count,
    edge: listOf(text),
    note: text,
    at,
  },

  JournalOpened: journalListed,
  JournalRetired: journalListed,

  SynthesesServed: {
    keys: listOf(text),
    sounds: listOf(soundServed),
    requestIds: listOf(text),
    key: listOf(count),
    sound: listOf(count),
    characters: listOf(count),
    cached: listOf(text),
    details: optional(record(servingDetails)),
    previous,
    at,
  },
  ServingsVoided: { servings: listOf(voidedServing), previous, at },
  StreamsEnded: { streams: listOf(streamEnd), previous, at },
  JournalPosted: { through: count, previous, at },
  JournalClosed: { reason: text, previous, at },
};
