import { dataKeyPrefix, dataKeyStream } from "../../domain/accounts/data-key.ts";
import type { Encrypted } from "../../domain/accounts/event-shapes.ts";
import { websiteStream } from "../../domain/accounts/website.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import type { EpochMs } from "../../domain/time.ts";
import { type EventStore, type RecordedEvent, WrongExpectedRevision } from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";

export interface StoredKey {
  /** The same key under one master key or several, the newest first. */
  readonly forms: readonly Encrypted[];
  /** The last revision of the stream. */
  readonly revision: number;
}
type DataKeyEvent = { readonly type: "DataKeyCreated" | "DataKeyReencrypted"; readonly data: Encrypted };

export const isDataKeyEvent = (event: RecordedEvent): event is RecordedEvent & DataKeyEvent =>
  isOfType<DataKeyEvent, RecordedEvent>(event, ["DataKeyCreated", "DataKeyReencrypted"]);

/** Reads the newest key of the stream. Events that another program has appended are left out. */
export const readKey = async (store: EventStore, websiteId: string): Promise<StoredKey | undefined> => {
  const forms: Encrypted[] = [];
  let revision: number | undefined;
  for await (const event of store.readStream(dataKeyStream(websiteId), { direction: "backwards" })) {
    revision ??= event.revision;
    if (!isDataKeyEvent(event)) continue;
    forms.push(event.data);
    if (event.type === "DataKeyCreated") break;
  }
  return revision === undefined ? undefined : { forms, revision };
};

/** An instance of an earlier version may have appended further events. */
export const isErased = async (store: EventStore, websiteId: string): Promise<boolean> => {
  const events = store.readStream(websiteStream(websiteId), { direction: "backwards" });
  for await (const { type } of events) if (type === "WebsiteErased") return true;
  return false;
};

/** Appends nothing if another process has changed the stream meanwhile. */
export const appendKeyEvent = async (
  store: EventStore,
  websiteId: string,
  {
    type,
    data,
    expected,
    now,
    actor = "system",
  }: {
    readonly type: DataKeyEvent["type"];
    readonly data: object;
    readonly expected: "none" | number;
    readonly now: EpochMs;
    readonly actor?: string | undefined;
  },
): Promise<void> => {
  const event = { id: uuidv7(now), type, data, metadata: { actor } };
  try {
    await store.append(dataKeyStream(websiteId), [event], expected);
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
  }
};

/** A server shows the events of deleted streams, too: their keys are not read from here. */
export const websitesWithKeys = async (store: EventStore): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for await (const { stream } of readLog(store, { prefixes: [dataKeyPrefix] }))
    ids.add(stream.slice(dataKeyPrefix.length));
  return ids;
};
