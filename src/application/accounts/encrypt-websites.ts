import { dataKeyPrefix, isEncrypted } from "../../domain/accounts/data-key.ts";
import { personalMembers } from "../../domain/accounts/event-shapes.ts";
import { websiteOfStream, websiteStream } from "../../domain/accounts/website.ts";
import type {
  EventBatch,
  EventStore,
  NewEvent,
  RecordedEvent,
  SubscribeOptions,
} from "../../eventstore/event-store.ts";
import { mapBatches } from "../../eventstore/subscriptions.ts";
import { type CredentialsCipher, DecryptionFailed } from "./credentials-cipher.ts";
import type { DataKeys } from "./data-keys.ts";

/** Precedes an encrypted text. */
const marker = "encrypted:";

/**
 * Encrypts the names and origins of websites under their data keys when they are appended, and
 * decrypts them when they are read. A text that no key of this process decrypts is read as it is
 * stored: it is the origin of no page, so that it grants nothing. `onErased`: called with the
 * website of each erasure that is read, perhaps repeatedly.
 */
export const encryptWebsites = (
  store: EventStore,
  keys: DataKeys,
  onErased: (websiteId: string) => void = () => {},
): EventStore => {
  /** A repeat of an append must be recognised as one: it has the same events. */
  const encrypted = new WeakMap<readonly NewEvent[], readonly NewEvent[]>();

  const encryptAll = async (stream: string, events: readonly NewEvent[]): Promise<readonly NewEvent[]> => {
    const websiteId = websiteOfStream(stream);
    if (websiteId === undefined || !events.some(({ type }) => personalMembers.has(type))) return events;
    const sent = encrypted.get(events);
    if (sent) return sent;
    const { encrypt } = await keys.obtain(websiteId);
    const owner = { personalDataOf: websiteId };
    const stored = events.map((event) =>
      mapPersonal(event, (text) => `${marker}${encrypt(text, owner).ciphertext}`),
    );
    encrypted.set(events, stored);
    return stored;
  };

  const decrypted = async (event: RecordedEvent): Promise<RecordedEvent> => {
    const websiteId = websiteOfStream(event.stream);
    if (websiteId === undefined) return event;
    if (event.type === "WebsiteErased") {
      keys.forget(websiteId);
      onErased(websiteId);
    }
    if (!textsOf(event).some(isEncrypted)) return event;
    const cipher = await keys.find(websiteId);
    return cipher ? mapPersonal(event, (text) => decryptText(cipher, text, websiteId)) : event;
  };

  async function* decryptedStream(events: AsyncIterable<RecordedEvent>): AsyncGenerator<RecordedEvent> {
    for await (const event of events) yield await decrypted(event);
  }

  const decryptedBatch = async (batch: EventBatch): Promise<EventBatch> => {
    if (!batch.events.some(({ stream }) => websiteOfStream(stream) !== undefined)) return batch;
    return { ...batch, events: await Promise.all(batch.events.map(decrypted)) };
  };

  /** The log has each key before what it encrypts, so that keys need not be read one by one. */
  const subscribeWithKeys = (options: SubscribeOptions, prefixes: readonly string[]) =>
    mapBatches(store.subscribe({ ...options, prefixes: [...prefixes, dataKeyPrefix] }), (batch) => {
      const ofKeys = batch.events.filter(isOfKey);
      if (ofKeys.length === 0) return decryptedBatch(batch);
      ofKeys.forEach(keys.note);
      return decryptedBatch({ ...batch, events: batch.events.filter((event) => !isOfKey(event)) });
    });

  return {
    ...store,
    append: async (stream, events, expected) =>
      await store.append(stream, await encryptAll(stream, events), expected),
    readStream: (stream, options) => {
      const events = store.readStream(stream, options);
      return websiteOfStream(stream) === undefined ? events : decryptedStream(events);
    },
    eventAt: async (position) => {
      const event = await store.eventAt(position);
      return event && (await decrypted(event));
    },
    subscribe: (options = {}) => {
      const { prefixes = [] } = options;
      return prefixes.includes(websiteStream(""))
        ? subscribeWithKeys(options, prefixes)
        : mapBatches(store.subscribe(options), decryptedBatch);
    },
  };
};

const isOfKey = ({ stream }: RecordedEvent): boolean => stream.startsWith(dataKeyPrefix);

/**
 * The texts of an event that name a person or host. Another program may have written values of any
 * type: these are left out.
 */
export const textsOf = ({ type, data }: Pick<NewEvent, "type" | "data">): string[] =>
  (personalMembers.get(type) ?? [])
    .flatMap((member): unknown => (Object(data) as Record<string, unknown>)[member])
    .filter((text) => typeof text === "string");

const mapPersonal = <E extends NewEvent>(event: E, map: (text: string) => string): E => {
  const mapped = (value: unknown): unknown => (typeof value === "string" ? map(value) : value);
  const data: Record<string, unknown> = { ...event.data };
  for (const member of personalMembers.get(event.type) ?? []) {
    const value = data[member];
    if (value !== undefined) data[member] = Array.isArray(value) ? value.map(mapped) : mapped(value);
  }
  return { ...event, data };
};

const decryptText = ({ decrypt, keyId }: CredentialsCipher, text: string, websiteId: string): string => {
  if (!isEncrypted(text)) return text;
  try {
    return decrypt({ ciphertext: text.slice(marker.length), keyId }, { personalDataOf: websiteId });
  } catch (error) {
    if (error instanceof DecryptionFailed) return text;
    throw error;
  }
};
