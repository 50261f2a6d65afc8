import type { View } from "../../../projections/runner/view.ts";
import { findWebsite } from "../../../projections/websites.ts";
import { isEncrypted } from "../../domain/accounts/data-key.ts";
import { lostName, type Website } from "../../domain/accounts/website.ts";
import { addMonths, monthOf, monthsBetween } from "../../domain/ledger/month.ts";
import type { EpochMs } from "../../domain/time.ts";
import type { EventStore } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { UsageReader } from "../../ledger/accounts/usage-reader.ts";
import type { CredentialsDetails, CredentialsService } from "../accounts/credentials.ts";
import type { KeyDetails, Keys } from "../accounts/keys.ts";
import type { WebsiteDetails, Websites } from "../accounts/websites.ts";
import type { LexiconDetails, LexiconsService } from "../lexicons/lexicons.ts";
import type { DeliveryDetails, WebhookDetails, WebhooksService } from "../webhooks/webhooks.ts";
import { type EventPlace, placeOf, readWebsiteEvents } from "./website-events.ts";

/** Everything that is stored about a website, without secrets. Times are ISO 8601, UTC. */
export interface WebsiteRecord {
  readonly website: WebsiteDetails;
  /** The tokens that verify origins, without their hashes. */
  readonly verifications: readonly {
    readonly origin: string;
    readonly expiresAt: string;
    readonly used: boolean;
  }[];
  readonly keys: readonly KeyDetails[];
  readonly credentials: readonly CredentialsDetails[];
  /** The webhooks that are about the website or one of its keys. */
  readonly webhooks: readonly (WebhookDetails & { readonly deliveries: readonly DeliveryDetails[] })[];
  readonly lexicons: readonly LexiconDetails[];
  /** The months in which a key was used. */
  readonly usage: readonly KeyMonth[];
  /** The number of servings to all keys, without voided ones. */
  readonly servings: number;
  /** The events of the website, its keys, credentials, lexicons and webhooks. */
  readonly events: readonly EventPlace[];
}

interface KeyMonth {
  readonly month: string;
  readonly apiKey: string;
  readonly characters: number;
  readonly requests: number;
}

interface WebsiteRecordOptions {
  readonly websites: Pick<Websites, "get">;
  readonly websitesView: View<Website>;
  readonly keys: Pick<Keys, "list">;
  readonly credentials: Pick<CredentialsService, "list">;
  readonly webhooks: Pick<WebhooksService, "list" | "deliveries">;
  readonly lexicons: Pick<LexiconsService, "list" | "get">;
  readonly countUsage: UsageReader["countsOf"];
  readonly store: Pick<EventStore, "readStream">;
  readonly clock: () => EpochMs;
}

/**
 * Reads everything that is stored about a website.
 * @throws {NotFound}
 * @throws {Unavailable}
 */
export type ReadWebsiteRecord = (websiteId: string) => Promise<WebsiteRecord>;

export const createWebsiteRecord =
  ({
    websites,
    websitesView,
    keys,
    credentials,
    webhooks,
    lexicons,
    ...reading
  }: WebsiteRecordOptions): ReadWebsiteRecord =>
  async (id) => {
    const website = websites.get(id);
    const ownKeys = keys.list(id);
    const apiKeys = ownKeys.map(({ apiKey }) => apiKey);
    const isOwn = ({ websiteId, apiKey = "" }: WebhookDetails): boolean =>
      websiteId === id || apiKeys.includes(apiKey);
    const usage = await usageOf(ownKeys, reading).catch(throwUnavailable);
    const events = await readWebsiteEvents(reading.store, id, apiKeys).catch(throwUnavailable);
    return {
      website,
      verifications: (findWebsite(websitesView, id)?.verifications ?? []).map(
        ({ origin, expiresAt, used = false }) => ({
          origin: isEncrypted(origin) ? lostName : origin,
          expiresAt,
          used,
        }),
      ),
      keys: ownKeys,
      credentials: website.erasedAt === undefined ? await credentials.list(id) : [],
      webhooks: webhooks
        .list()
        .filter(isOwn)
        .map((webhook) => ({ ...webhook, deliveries: webhooks.deliveries(webhook.webhookId) })),
      lexicons:
        website.erasedAt === undefined ? lexicons.list(id).map(({ name }) => lexicons.get(id, name)) : [],
      usage,
      servings: usage.reduce((sum, { requests }) => sum + requests, 0),
      events: events.map(placeOf),
    };
  };

/** One month more at each end is read: instances name months by clocks that may differ. */
const usageOf = async (
  keys: readonly KeyDetails[],
  { countUsage, clock }: Pick<WebsiteRecordOptions, "countUsage" | "clock">,
): Promise<KeyMonth[]> => {
  const [first] = keys.map(({ issuedAt }) => monthOf(issuedAt)).sort();
  if (first === undefined) return [];
  const last = monthOf(new Date(clock()).toISOString());
  const apiKeys = keys.map(({ apiKey }) => apiKey);
  const usage: KeyMonth[] = [];
  for (const month of monthsBetween(addMonths(first, -1), addMonths(last, 1))) {
    const { counts } = await countUsage(apiKeys, month);
    for (const [apiKey, { characters, requests }] of counts) {
      if (characters !== 0 || requests !== 0) usage.push({ month, apiKey, characters, requests });
    }
  }
  return usage;
};
