import { dataKeyPrefix } from "./accounts/data-key.ts";
import {
  credentialsShapes,
  dataKeyShapes,
  keyShapes,
  masterKeyShapes,
  websiteShapes,
} from "./accounts/event-shapes.ts";
import { catalogShapes, platformShapes } from "./catalog/event-shapes.ts";
import { usageAccountShapes } from "./ledger/accounts/usage-account.ts";
import { archiveShapes } from "./ledger/archive/journals-archived.ts";
import { idempotencyShapes } from "./ledger/idempotency.ts";
import { clockShapes } from "./ledger/journal/clock-corrections.ts";
import { journalShapes, type SynthesesServed } from "./ledger/journal/journal.ts";
import { journalRegistryShapes } from "./ledger/journal/journal-registry.ts";
import { quotaShapes } from "./ledger/quota/quota.ts";
import { rateShapes } from "./ledger/rate.ts";
import { sealShapes } from "./ledger/seals/seal.ts";
import { lexiconShapes } from "./lexicons/event-shapes.ts";
import { logShapes } from "./log-format.ts";
import { pageScriptsShapes } from "./page-scripts.ts";
import { anyObject, type Check, type Members, object } from "./shape.ts";
import { audioShapes } from "./synthesis/audio-events.ts";
import { deliveryShapes } from "./webhooks/delivery.ts";
import { webhookShapes } from "./webhooks/event-shapes.ts";

/**
 * The shapes that folds rely on, by kind of stream and event type. A kind is the name of a stream,
 * or the beginning of the names of several, which then ends with a hyphen. Only value types are
 * checked: codes and names change between releases, and an older instance must not skip events of a
 * newer one.
 */
const shapesByKind: Readonly<Record<string, Readonly<Record<string, Members>>>> = {
  log: { ...logShapes, ...clockShapes },
  "master-key": masterKeyShapes,
  "website-": websiteShapes,
  [dataKeyPrefix]: dataKeyShapes,
  "key-": keyShapes,
  "credentials-": credentialsShapes,
  catalog: catalogShapes,
  "platform-": platformShapes,
  "idempotency-": idempotencyShapes,
  "journal-": journalShapes,
  journals: { ...journalRegistryShapes, ...archiveShapes },
  "quota-": quotaShapes,
  seals: sealShapes,
  "rate-": rateShapes,
  "usage-": usageAccountShapes,
  audio: audioShapes,
  "lexicons-": lexiconShapes,
  webhooks: webhookShapes,
  "delivery-": deliveryShapes,
  "page-scripts-": pageScriptsShapes,
};

const kinds = Object.keys(shapesByKind);

/** The only kind of stream that has events of a type, and the shape of their data. */
interface EventRule {
  readonly kind: string;
  readonly hasShape: Check;
}

const rules: ReadonlyMap<string, EventRule> = new Map(
  Object.entries(shapesByKind).flatMap(([kind, shapes]) =>
    Object.entries(shapes).map(([type, members]) => [type, { kind, hasShape: object(members) }]),
  ),
);

/** Every event type of this release. */
export const eventTypes: readonly string[] = [...rules.keys()];

/** The columns must be of equal length, and indexes within their dictionaries. */
const columnsAgree = (data: SynthesesServed): boolean => {
  const { keys, sounds, requestIds, key, sound, characters, cached, details = {} } = data;
  const { length } = requestIds;
  return (
    [key, sound, characters, cached].every((column) => column.length === length) &&
    key.every((index) => index < keys.length) &&
    sound.every((index) => index < sounds.length) &&
    Object.keys(details).every((index) => /^\d+$/.test(index) && Number(index) < length)
  );
};

/** An event of a log, which another program may have written. */
export interface StoredEvent {
  readonly stream: string;
  readonly type: unknown;
  readonly data: unknown;
  readonly metadata: unknown;
}

/**
 * True if the event can be folded: it has the shape of its type, and its stream is of the kind that
 * has this type. The data of an unknown event type must be a JSON object; folds ignore it.
 */
export const isWellFormed = ({ stream, type, data, metadata }: StoredEvent): boolean => {
  if (typeof type !== "string" || !anyObject(metadata)) return false;
  const rule = rules.get(type);
  if (rule === undefined) return anyObject(data);
  return (
    isOfKind(stream, rule.kind) &&
    rule.hasShape(data) &&
    (type !== "SynthesesServed" || columnsAgree(data as SynthesesServed))
  );
};

interface TypedEvent {
  readonly type: string;
  readonly data: object;
}

/** True if the event is a well-formed one of these types. */
export const isOfType = <E extends TypedEvent, R extends TypedEvent & StoredEvent>(
  event: R,
  types: readonly E["type"][],
): event is R & E => types.includes(event.type) && isWellFormed(event);

/** True if this release writes streams of this name. All other streams belong to other programs. */
export const isKnownStream = (stream: string): boolean => kinds.some((kind) => isOfKind(stream, kind));

const isOfKind = (stream: string, kind: string): boolean =>
  stream === kind || (kind.endsWith("-") && stream.startsWith(kind));

/**
 * Replaces a malformed event, so that revisions stay dense. Folds ignore it like every unknown
 * type.
 */
export const malformedEvent = "MalformedEvent";
