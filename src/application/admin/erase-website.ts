import { allKeys, keys as keysProjection } from "../../../projections/keys.ts";
import { readView } from "../../../projections/runner/read-view.ts";
import {
  type CredentialsEvent,
  credentialsDecider,
  credentialsStream,
  removeCredentials,
} from "../../domain/accounts/credentials.ts";
import { isEncrypted } from "../../domain/accounts/data-key.ts";
import { endKey, keyDecider, keyStream } from "../../domain/accounts/key.ts";
import { eraseWebsite, websiteDecider, websiteStream } from "../../domain/accounts/website.ts";
import { lexiconsDecider, lexiconsStream, removeLexicon } from "../../domain/lexicons/lexicons.ts";
import { byokEngines } from "../../domain/synthesis/byok-providers.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  removeWebhook,
  type Webhook,
  type Webhooks,
  webhooksDecider,
  webhooksStream,
} from "../../domain/webhooks/webhooks.ts";
import type { EventStore, RecordedEvent } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { DataKeys } from "../accounts/data-keys.ts";
import { textsOf } from "../accounts/encrypt-websites.ts";
import type { DeletePrivateAudio } from "../audio/delete-private-audio.ts";
import type { CommandContext, ExecuteCommand } from "../execute-command.ts";
import { type EventPlace, placeOf, readWebsiteEvents } from "./website-events.ts";

/** What an erasure has done, and what it cannot remove. */
export interface Erasure {
  readonly websiteId: string;
  /** The time of the first erasure. ISO 8601, UTC. */
  readonly erasedAt: string;
  /** The keys that were ended, whose usage remains. */
  readonly keys: readonly string[];
  /** The hashes of private audio that were deleted by this call. */
  readonly deletedAudio: number;
  /** The events that hold something of the website in clear, or under the master key. */
  readonly stays: readonly (EventPlace & { readonly holds: string })[];
}

interface EraseWebsiteOptions {
  readonly execute: ExecuteCommand;
  /** Reads keys that another process has just issued, which a view may lack. */
  readonly store: EventStore;
  /** Events as stored. */
  readonly storeAsWritten: Pick<EventStore, "readStream">;
  readonly dataKeys: Pick<DataKeys, "erase">;
  readonly deletePrivateAudio: DeletePrivateAudio;
  readonly clock: () => EpochMs;
}

/**
 * Erases a website for good: records it, deletes its data key, ends its keys, removes its webhooks,
 * lexicons and credentials, and deletes its private audio. It may be interrupted at any moment and
 * repeated: the event is recorded first, so that nothing can be added meanwhile.
 * @throws {NotFound}
 * @throws {Unavailable} if a step failed: repeat it
 */
export type EraseWebsite = (websiteId: string, context: CommandContext) => Promise<Erasure>;

const reason = "The website was erased.";

export const createEraseWebsite =
  ({
    execute,
    store,
    storeAsWritten,
    dataKeys,
    deletePrivateAudio,
    clock,
  }: EraseWebsiteOptions): EraseWebsite =>
  async (id, context) => {
    const at = new Date(clock()).toISOString();
    const erase = { at };
    const website = await execute(
      websiteDecider,
      websiteStream(id),
      (state) => eraseWebsite(state, erase),
      context,
    );
    await dataKeys.erase(id);

    const keys = allKeys(await readView(store, keysProjection, "all").catch(throwUnavailable), id);
    const apiKeys = keys.map(({ apiKey }) => apiKey);
    for (const apiKey of apiKeys)
      await execute(keyDecider, keyStream(apiKey), (key) => endKey(key, { reason, at }), context);
    const isOwn = ({ websiteId, apiKey = "" }: Webhook): boolean =>
      websiteId === id || apiKeys.includes(apiKey);
    const removeWebhooks = (all: Webhooks) =>
      Object.values(all)
        .filter(isOwn)
        .flatMap(({ webhookId }) => removeWebhook(all, { webhookId, at }));
    await execute(webhooksDecider, webhooksStream, removeWebhooks, context);
    await execute(
      lexiconsDecider,
      lexiconsStream(id),
      (state) => Object.keys(state.byName).flatMap((name) => removeLexicon(state, { name, at })),
      context,
    );
    await execute(
      credentialsDecider,
      credentialsStream(id),
      (state): CredentialsEvent[] =>
        byokEngines
          .filter((engine) => state.byEngine[engine])
          .flatMap((engine) => removeCredentials(state, { engine, at })),
      context,
    );
    const deletedAudio = await deletePrivateAudio(apiKeys, context);
    const events = await readWebsiteEvents(storeAsWritten, id, apiKeys).catch(throwUnavailable);
    return {
      websiteId: id,
      erasedAt: website.status === "erased" ? website.erasedAt : at,
      keys: apiKeys,
      deletedAudio,
      stays: events.flatMap((event) => {
        const holds = heldBy(event);
        return holds === undefined ? [] : [{ ...placeOf(event), holds }];
      }),
    };
  };

/** What events of other types may tell about the website's owner. */
const heldByType: ReadonlyMap<string, string> = new Map([
  ["WebsiteConfigured", "the player's configuration"],
  ["CredentialsSet", "credentials, encrypted under the master key"],
  ["CredentialsReencrypted", "credentials, encrypted under the master key"],
  ["LexiconSet", "the rules of a lexicon"],
  ["WebhookAdded", "the URL of a webhook"],
  ["WebhookChanged", "the URL of a webhook"],
  ["KeySuspended", "the operator's reason"],
  ["KeyReinstated", "the operator's reason"],
]);

const heldBy = (event: RecordedEvent): string | undefined => {
  const isClear = textsOf(event).some((text) => !isEncrypted(text));
  if (isClear) return event.type === "WebsiteRegistered" ? "the name and origins" : "origins";
  const { cause = "operator", reason: given } = Object(event.data) as Record<string, unknown>;
  return cause === "operator" && given !== reason ? heldByType.get(event.type) : undefined;
};
