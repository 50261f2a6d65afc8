import type { CredentialsEvent, ListedVoice } from "./accounts/credentials.ts";
import type { KeyEvent } from "./accounts/key.ts";
import type { MasterKeyRecorded } from "./accounts/master-key.ts";
import type { Plan } from "./accounts/plan.ts";
import type { WebsiteEvent } from "./accounts/website.ts";
import type { CatalogEvent } from "./catalog/catalog.ts";
import type { PlatformEvent, ReportedVoice } from "./catalog/platform.ts";
import {
  anyObject,
  boolean,
  type Check,
  count,
  listOf,
  type Members,
  nullable,
  number,
  object,
  optional,
  text,
  utcTime,
} from "./shape.ts";
import type { SystemVoice, Voice } from "./synthesis/speech.ts";
import type { RateEvent } from "./usage/rate.ts";
import type { Idempotency, ServingVoided, UsageEvent } from "./usage/usage.ts";

/** Every event type of this release. */
export type KnownEvent =
  | CatalogEvent
  | CredentialsEvent
  | KeyEvent
  | MasterKeyRecorded
  | PlatformEvent
  | RateEvent
  | UsageEvent
  | WebsiteEvent;

type DataOf<Type> = Extract<KnownEvent, { readonly type: Type }>["data"];

/** The compiler requires every event type, with all its members. */
type Shapes = { readonly [Type in KnownEvent["type"]]: Members<DataOf<Type>> };

type VoidedServing = NonNullable<ServingVoided["serving"]>;
type PassedCharge = NonNullable<ServingVoided["passed"]>;

const at = utcTime;
const plan = object<Plan>({ tier: text, requestsPerMinute: count, monthlyCharacters: nullable(count) });
const origins = listOf(text);
const sealed = { sealed: text, keyId: text };
const gender = text;
const idempotency = optional(object<Idempotency>({ key: text, request: text }));
const listedVoice = object<ListedVoice>({ name: text, lang: optional(text), gender });
const reportedVoice = object<ReportedVoice>({ name: text, lang: text, localService: boolean });

const voice = object<Voice>({
  name: text,
  flag: text,
  gender,
  lang: text,
  voiceIDs: listOf(count),
  deprecated: optional(boolean),
  isByok: optional(boolean),
  provider: optional(text),
});

const systemVoice = object<SystemVoice>({
  id: count,
  name: text,
  lang: optional(text),
  rate: optional(number),
  pitch: optional(number),
  volume: optional(number),
  timerSpeed: optional(number),
  fallbackVoice: optional(boolean),
  service: optional(text),
  voiceName: optional(text),
  gender: optional(gender),
  deprecated: optional(boolean),
});

/**
 * The shape that folds rely on, by event type. Only value types are checked: codes and names change between releases, and
 * an older instance must not skip events of a newer one.
 */
const shapes: Shapes = {
  MasterKeyRecorded: { keyId: text, at },

  WebsiteRegistered: { websiteId: text, name: text, origins, at },
  WebsiteConfigured: { config: anyObject, at },
  OriginsChanged: { origins, at },
  OriginVerificationIssued: { hash: text, origin: text, expiresAt: utcTime, at },
  OriginVerified: { hash: text, origin: text, at },

  KeyIssued: { apiKey: text, websiteId: text, plan, at },
  SecretCreated: { secretId: text, hash: text, at },
  SecretRevoked: { secretId: text, at },
  PlanChanged: { plan, at },
  KeySuspended: { cause: text, reason: text, at },
  KeyReinstated: { reason: text, at },

  CredentialsSet: { engine: text, provider: text, voices: listOf(listedVoice), ...sealed, at },
  CredentialsResealed: { engine: text, ...sealed, at },
  CredentialsRemoved: { engine: text, at },

  SystemVoiceAdded: { systemVoice, at },
  SystemVoiceDeprecated: { id: count, at },
  VoiceAdded: { voice, at },
  VoiceChanged: { voice, at },
  VoiceDeprecated: { name: text, at },

  VoicesReported: { browserVersion: count, osVersion: count, voices: listOf(reportedVoice), at },

  RequestsCounted: { minute: count, keys: listOf(text), counts: listOf(count), at },

  SynthesisServed: {
    requestId: text,
    hash: text,
    characters: count,
    engine: text,
    voice: text,
    lang: text,
    format: text,
    cached: text,
    partial: optional(boolean),
    idempotency,
    repeat: optional(boolean),
    stream: optional(text),
    failed: optional(listOf(text)),
    at,
  },
  ServingVoided: {
    requestId: text,
    characters: count,
    passed: optional(object<PassedCharge>({ to: text, characters: count })),
    serving: optional(object<VoidedServing>({ hash: text, engine: text, voice: text, at, idempotency })),
    at,
  },
  StreamEnded: { requestId: text, hash: text, outcome: text, bytes: count, chunks: count, at },
};

const known: ReadonlyMap<string, Check> = new Map(
  Object.entries<Members<object>>(shapes).map(([type, members]) => [type, object(members)]),
);

/**
 * True if the event can be folded. The data of an unknown event type must be a JSON object; folds ignore it.
 */
export const isWellFormed = ({ type, data }: { readonly type: string; readonly data: unknown }): boolean =>
  (known.get(type) ?? anyObject)(data);

/** Replaces a malformed event, so that revisions stay dense. Folds ignore it like every unknown type. */
export const malformedEvent = "MalformedEvent";
