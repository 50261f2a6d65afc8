import { credentialsStream } from "../../domain/accounts/credentials.ts";
import { keyStream } from "../../domain/accounts/key.ts";
import { websiteStream } from "../../domain/accounts/website.ts";
import { lexiconsStream } from "../../domain/lexicons/lexicons.ts";
import { webhooksStream } from "../../domain/webhooks/webhooks.ts";
import { type EventStore, eventTime, type RecordedEvent } from "../../eventstore/event-store.ts";

/** The place of an event in the log, without its data. */
export interface EventPlace {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  /** The time in ISO 8601, UTC. */
  readonly at: string;
  /** Says who caused it. */
  readonly actor?: string;
}

export const placeOf = (event: RecordedEvent): EventPlace => {
  const { position, stream, revision, type, metadata } = event;
  const actor = metadata?.actor;
  return { position, stream, revision, type, at: eventTime(event), ...(actor !== undefined && { actor }) };
};

/**
 * Reads the events of a website, of its keys, and of the webhooks that are about it or one of these
 * keys, removed ones included, in order of position. Accounts and journals are not read.
 * @throws {EventStoreUnavailable}
 */
export const readWebsiteEvents = async (
  store: Pick<EventStore, "readStream">,
  websiteId: string,
  apiKeys: readonly string[],
): Promise<RecordedEvent[]> => {
  const streams = [
    ...[websiteStream, credentialsStream, lexiconsStream].map((streamOf) => streamOf(websiteId)),
    ...apiKeys.map(keyStream),
  ];
  const events: RecordedEvent[] = [];
  for (const stream of streams) for await (const event of store.readStream(stream)) events.push(event);
  const webhookIds = new Set<unknown>();
  for await (const event of store.readStream(webhooksStream)) {
    const { webhookId, websiteId: about, apiKey = "" } = membersOf(event);
    if (about === websiteId || apiKeys.includes(String(apiKey))) webhookIds.add(webhookId);
    if (webhookIds.has(webhookId)) events.push(event);
  }
  return events.sort((a, b) => a.position - b.position);
};

/** Another program may have written any JSON value as data. */
const membersOf = ({ data }: RecordedEvent): Readonly<Record<string, unknown>> => Object(data);
