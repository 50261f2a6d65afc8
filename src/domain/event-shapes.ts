import { credentialsShapes, keyShapes, masterKeyShapes, websiteShapes } from "./accounts/event-shapes.ts";
import { catalogShapes, platformShapes } from "./catalog/event-shapes.ts";
import { idempotencyShapes } from "./ledger/idempotency.ts";
import { journalShapes, type SynthesesServed } from "./ledger/journal.ts";
import { journalRegistryShapes } from "./ledger/journal-registry.ts";
import { quotaShapes } from "./ledger/quota.ts";
import { rateShapes } from "./ledger/rate.ts";
import { sealShapes } from "./ledger/seals/seal.ts";
import { usageAccountShapes } from "./ledger/usage-accounts/usage-account.ts";
import { lexiconShapes } from "./lexicons/event-shapes.ts";
import { createShapeCheck, type TypedEvent } from "./shape.ts";
import { audioShapes } from "./synthesis/audio-deletion.ts";
import { deliveryShapes } from "./webhooks/delivery.ts";
import { webhookShapes } from "./webhooks/event-shapes.ts";

/**
 * The shape that folds rely on, by event type. Only value types are checked: codes and names change between releases, and
 * an older instance must not skip events of a newer one.
 */
const shapes = {
  ...masterKeyShapes,
  ...websiteShapes,
  ...keyShapes,
  ...credentialsShapes,
  ...catalogShapes,
  ...platformShapes,
  ...idempotencyShapes,
  ...journalShapes,
  ...journalRegistryShapes,
  ...quotaShapes,
  ...sealShapes,
  ...rateShapes,
  ...usageAccountShapes,
  ...audioShapes,
  ...lexiconShapes,
  ...webhookShapes,
  ...deliveryShapes,
};

/** Every event type of this release. */
export const eventTypes: readonly string[] = Object.keys(shapes);

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

const hasKnownShape = createShapeCheck(shapes);

/** True if the event can be folded. The data of an unknown event type must be a JSON object; folds ignore it. */
export const isWellFormed = (event: TypedEvent): boolean =>
  hasKnownShape(event) && (event.type !== "SynthesesServed" || columnsAgree(event.data as SynthesesServed));

/** Replaces a malformed event, so that revisions stay dense. Folds ignore it like every unknown type. */
export const malformedEvent = "MalformedEvent";
