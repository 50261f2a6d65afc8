import pLimit from "p-limit";
import { type RetryOptions, retry } from "../../async/retry.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { dataKeyPrefix, dataKeyStream } from "../../domain/accounts/data-key.ts";
import type { Encrypted } from "../../domain/accounts/event-shapes.ts";
import { websiteStream } from "../../domain/accounts/website.ts";
import { isOfType } from "../../domain/event-shapes.ts";
import type { EpochMs } from "../../domain/time.ts";
import {
  type EventStore,
  EventStoreUnavailable,
  type RecordedEvent,
  readLastEvent,
  WrongExpectedRevision,
} from "../../eventstore/event-store.ts";
import { readLog } from "../../eventstore/follow-events.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import { uuidv7 } from "../../eventstore/uuid.ts";
import type { CommandContext } from "../execute-command.ts";
import {
  type CredentialsCipher,
  createCredentialsCipher,
  type DataKeyOwner,
  DecryptionFailed,
} from "./credentials-cipher.ts";
import type { Random } from "./identifiers.ts";

/** The ciphers of websites, each under a data key of its own. */
export interface DataKeys {
  /**
   * Resolves with undefined if the website has no key, or none that this process can open.
   * @throws {EventStoreUnavailable}
   */
  find(websiteId: string): Promise<CredentialsCipher | undefined>;
  /**
   * Creates the key of a website that has none.
   * @throws {EventStoreUnavailable}
   * @throws {DecryptionFailed} if the master key does not open the website's key
   * @throws the error of the cipher
   */
  obtain(websiteId: string): Promise<CredentialsCipher>;
  /**
   * True if `find` has not found, or could not open, the key of a website that is not erased. What
   * was read then must not be kept: another process may read more.
   */
  hasUnopened(): boolean;
  /** Removes the key from the memory of this process. */
  forget(websiteId: string): void;
  /**
   * Deletes the key: nothing decrypts what it has encrypted. The event `WebsiteErased` must be in
   * the website's stream.
   * @throws {Unavailable}
   */
  erase(websiteId: string): Promise<void>;
  /**
   * Encrypts all keys under the current master key.
   * @throws {Unavailable}
   */
  reencrypt(context: CommandContext): Promise<{
    readonly reencrypted: number;
    readonly current: number;
    readonly unopened: readonly DataKeyOwner[];
  }>;
}

interface DataKeysOptions {
  /** Events as stored. */
  readonly store: EventStore;
  readonly cipher: () => Promise<CredentialsCipher>;
  readonly random: Random;
  readonly clock: () => EpochMs;
  /** Measures the delays while a key is not readable yet. Default: real time. */
  readonly time?: Time;
}

const keyBytes = 32;
/** A first start reads the keys of all websites. */
const maxConcurrentReads = 32;
/**
 * A server may show an event before reads of another stream show an earlier one. All delays
 * together are longer than it takes to index an event.
 */
const delaysMs = [20, 100, 400, 1_500];

export const createDataKeys = (options: DataKeysOptions): DataKeys => {
  const { store, cipher, random, clock, time = systemTime } = options;
  const known = new Map<string, Promise<CredentialsCipher | undefined>>();
  /** The websites whose keys were not found, or not opened. They are not waited for again. */
  const missing = new Set<string>();
  const limited = pLimit(maxConcurrentReads);
  const at = (): string => new Date(clock()).toISOString();

  /**
   * @throws {DecryptionFailed}
   * @throws the error of the cipher
   */
  const open = async (websiteId: string, stored: StoredKey): Promise<CredentialsCipher> => {
    const key = (await cipher()).decrypt(stored, { dataKeyOf: websiteId });
    return createCredentialsCipher({ keys: [Buffer.from(key, "base64")], random });
  };

  /** Waits a little for a key that a website which is not erased must have. */
  const findStored = (websiteId: string): Promise<Found> => {
    const delays = missing.has(websiteId) ? [] : delaysMs;
    const delayAfter: RetryOptions<Found>["delayAfter"] = (outcome, attempt) =>
      "value" in outcome && outcome.value === "missing" ? delays[attempt - 1] : undefined;
    const find = async (): Promise<Found> =>
      (await readKey(store, websiteId)) ?? ((await isErased(store, websiteId)) ? "erased" : "missing");
    return retry({ time, delayAfter }, () => limited(find));
  };

  /** A process without the master key reads what is stored. */
  const load = async (websiteId: string): Promise<CredentialsCipher | undefined> => {
    const stored = await findStored(websiteId);
    if (stored === "erased") return undefined;
    const opened = stored === "missing" ? undefined : await open(websiteId, stored).catch(() => undefined);
    if (!opened) missing.add(websiteId);
    return opened;
  };

  const create = async (websiteId: string): Promise<CredentialsCipher> => {
    const owner = { dataKeyOf: websiteId };
    const encrypted = (await cipher()).encrypt(random(keyBytes).toString("base64"), owner);
    const data = { ...encrypted, at: at() };
    await append(store, websiteId, { type: "DataKeyCreated", data, expected: "none", now: clock() });
    // Another process may have created the key first.
    const stored = await findStored(websiteId);
    if (typeof stored !== "string") return await open(websiteId, stored);
    throw new EventStoreUnavailable(`the data key of ${websiteId} is not readable yet`);
  };

  /** Remembers what is found. Whatever is not found is looked up again. */
  const remembered = <C extends CredentialsCipher | undefined>(
    websiteId: string,
    loading: Promise<C>,
  ): Promise<C> => {
    known.set(websiteId, loading);
    const forgetUnless = (found?: C): void => {
      if (!found && known.get(websiteId) === loading) known.delete(websiteId);
    };
    loading.then(forgetUnless, () => forgetUnless());
    return loading;
  };

  const erase = async (websiteId: string): Promise<void> => {
    known.delete(websiteId);
    await store.deleteStream(dataKeyStream(websiteId)).catch(throwUnavailable);
  };

  return {
    find: (websiteId) => known.get(websiteId) ?? remembered(websiteId, load(websiteId)),
    obtain: async (websiteId) => {
      const found = await known.get(websiteId);
      if (found) return found;
      const stored = await readKey(store, websiteId);
      return await remembered(websiteId, stored ? open(websiteId, stored) : create(websiteId));
    },
    hasUnopened: () => missing.size > 0,
    forget: (websiteId) => void known.delete(websiteId),
    erase,
    reencrypt: async ({ actor }) => {
      const current = await cipher();
      const unopened: DataKeyOwner[] = [];
      let [reencrypted, unchanged] = [0, 0];
      for (const websiteId of await websitesWithKeys(store).catch(throwUnavailable)) {
        const owner = { dataKeyOf: websiteId };
        const stored = await readKey(store, websiteId).catch(throwUnavailable);
        if (!stored) continue;
        if (stored.keyId === current.keyId) {
          unchanged++;
          continue;
        }
        try {
          const data = { ...current.encrypt(current.decrypt(stored, owner), owner), at: at() };
          const expected = stored.revision;
          const renewed = { type: "DataKeyReencrypted", data, expected, now: clock(), actor };
          await append(store, websiteId, renewed).catch(throwUnavailable);
          reencrypted++;
        } catch (error) {
          if (!(error instanceof DecryptionFailed)) throw error;
          unopened.push(owner);
        }
        // An append can restore the stream of a key that was deleted meanwhile.
        if (await isErased(store, websiteId).catch(throwUnavailable)) await erase(websiteId);
      }
      return { reencrypted, current: unchanged, unopened };
    },
  };
};

type StoredKey = Encrypted & { readonly revision: number };
type Found = StoredKey | "erased" | "missing";

type DataKeyEvent = { readonly type: "DataKeyCreated" | "DataKeyReencrypted"; readonly data: Encrypted };

const readKey = async (store: EventStore, websiteId: string): Promise<StoredKey | undefined> => {
  const last = await readLastEvent(store, dataKeyStream(websiteId));
  if (!last || !isOfType<DataKeyEvent, RecordedEvent>(last, ["DataKeyCreated", "DataKeyReencrypted"]))
    return undefined;
  const { ciphertext, keyId } = last.data;
  return { ciphertext, keyId, revision: last.revision };
};

/** An instance of an earlier version may have appended further events. */
const isErased = async (store: EventStore, websiteId: string): Promise<boolean> => {
  const events = store.readStream(websiteStream(websiteId), { direction: "backwards" });
  for await (const { type } of events) if (type === "WebsiteErased") return true;
  return false;
};

/** Appends nothing if another process has changed the stream meanwhile. */
const append = async (
  store: EventStore,
  websiteId: string,
  {
    type,
    data,
    expected,
    now,
    actor = "system",
  }: {
    readonly type: string;
    readonly data: object;
    readonly expected: "none" | number;
    readonly now: EpochMs;
    readonly actor?: string;
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
const websitesWithKeys = async (store: EventStore): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for await (const { stream } of readLog(store, { prefixes: [dataKeyPrefix] }))
    ids.add(stream.slice(dataKeyPrefix.length));
  return ids;
};
