import pLimit from "p-limit";
import { type RetryOptions, retry } from "../../async/retry.ts";
import { systemTime, type Time } from "../../async/time.ts";
import { dataKeyPrefix, dataKeyStream } from "../../domain/accounts/data-key.ts";
import type { Encrypted } from "../../domain/accounts/event-shapes.ts";
import { Unavailable } from "../../domain/errors.ts";
import type { EpochMs } from "../../domain/time.ts";
import { type EventStore, EventStoreUnavailable, type RecordedEvent } from "../../eventstore/event-store.ts";
import { throwUnavailable } from "../../eventstore/store-error.ts";
import type { CommandContext } from "../execute-command.ts";
import {
  type CredentialsCipher,
  createCredentialsCipher,
  type DataKeyOwner,
  DecryptionFailed,
} from "./credentials-cipher.ts";
import {
  appendKeyEvent,
  isDataKeyEvent,
  isErased,
  readKey,
  type StoredKey,
  websitesWithKeys,
} from "./data-key-streams.ts";
import type { Random } from "./identifiers.ts";

/** The ciphers of websites, each under a data key of its own. */
export interface DataKeys {
  /**
   * Resolves with undefined if the website has no key, or none that this process can open.
   * @throws {EventStoreUnavailable}
   */
  find(websiteId: string): Promise<CredentialsCipher | undefined>;
  /**
   * Reads the key, so that nothing is encrypted under one that was replaced. Creates the key of a
   * website that has none.
   * @throws {EventStoreUnavailable}
   * @throws {Unavailable} if no master key of this process opens the website's key
   * @throws the error of the cipher
   */
  obtain(websiteId: string): Promise<CredentialsCipher>;
  /**
   * True if `find` has not found, or could not open, the key of a website that is not erased. What
   * was read then must not be kept: another process may read more.
   */
  hasUnopened(): boolean;
  /** Remembers the key in an event of a `data-key-` stream: it need not be read again. */
  note(event: RecordedEvent): void;
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
  /**
   * Replaces the keys that the master keys do not open, because one of them is lost. Names and
   * origins under these keys are lost too: origins must be set again. Resolves with the ids of the
   * websites. It may be interrupted and repeated.
   * @throws {Unavailable}
   */
  replaceUnopened(context: CommandContext): Promise<readonly string[]>;
}

interface DataKeysOptions {
  /** Events as stored. */
  readonly store: EventStore;
  readonly cipher: () => Promise<CredentialsCipher>;
  readonly random: Random;
  readonly clock: () => EpochMs;
  /** Called once for each website whose key is not found, or not opened. */
  readonly onUnopened?: (websiteId: string) => void;
  /** Measures the delays while a key is not readable yet. Default: real time. */
  readonly time?: Time;
}

type Found = StoredKey | "erased" | "missing";

const keyBytes = 32;
/** A first start reads the keys of all websites. */
const maxConcurrentReads = 32;
/**
 * A server may show an event before reads of another stream show an earlier one. All delays
 * together are longer than it takes to index an event.
 */
const delaysMs = [20, 100, 400, 1_500];

export const createDataKeys = (options: DataKeysOptions): DataKeys => {
  const { store, cipher, random, clock, onUnopened = () => {}, time = systemTime } = options;
  const known = new Map<string, Promise<CredentialsCipher | undefined>>();
  /** The websites whose keys were not found, or not opened. They are not waited for again. */
  const missing = new Set<string>();
  const limited = pLimit(maxConcurrentReads);
  const at = (): string => new Date(clock()).toISOString();

  /**
   * Decrypts the newest form of the key that a master key of this process opens.
   * @throws {DecryptionFailed}
   * @throws the error of the cipher
   */
  const decryptKey = async (websiteId: string, forms: readonly Encrypted[]): Promise<string> => {
    const { decrypt } = await cipher();
    let failure = new DecryptionFailed("It has no well-formed event.");
    for (const form of forms) {
      try {
        return decrypt(form, { dataKeyOf: websiteId });
      } catch (error) {
        if (!(error instanceof DecryptionFailed)) throw error;
        failure = error;
      }
    }
    throw failure;
  };

  /** Throws like `decryptKey`. */
  const open = async (websiteId: string, { forms }: Pick<StoredKey, "forms">): Promise<CredentialsCipher> => {
    const key = await decryptKey(websiteId, forms);
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
    if (!opened && !missing.has(websiteId)) {
      missing.add(websiteId);
      onUnopened(websiteId);
    }
    return opened;
  };

  const appendNewKey = async (
    websiteId: string,
    expected: "none" | number,
    actor?: string,
  ): Promise<void> => {
    const owner = { dataKeyOf: websiteId };
    const encrypted = (await cipher()).encrypt(random(keyBytes).toString("base64"), owner);
    const data = { ...encrypted, at: at() };
    await appendKeyEvent(store, websiteId, { type: "DataKeyCreated", data, expected, now: clock(), actor });
  };

  const create = async (websiteId: string): Promise<CredentialsCipher> => {
    await appendNewKey(websiteId, "none");
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

  /**
   * The keys of websites that are not erased. An interrupted erasure or re-encryption can leave the
   * key of one that is: it is deleted.
   * @throws {Unavailable}
   */
  const storedKeys = async (): Promise<{ readonly websiteId: string; readonly stored: StoredKey }[]> => {
    const found = [];
    for (const websiteId of await websitesWithKeys(store).catch(throwUnavailable)) {
      const stored = await readKey(store, websiteId).catch(throwUnavailable);
      if (!stored) continue;
      if (await isErased(store, websiteId).catch(throwUnavailable)) await erase(websiteId);
      else found.push({ websiteId, stored });
    }
    return found;
  };

  return {
    find: (websiteId) => known.get(websiteId) ?? remembered(websiteId, load(websiteId)),
    obtain: async (websiteId) => {
      const stored = await readKey(store, websiteId);
      const obtained = stored ? open(websiteId, stored) : create(websiteId);
      return await remembered(websiteId, obtained).catch((error) => {
        if (!(error instanceof DecryptionFailed)) throw error;
        const message = `The data key of ${websiteId} cannot be opened with the master keys of this process.`;
        throw new Unavailable(message, 5, { cause: error });
      });
    },
    hasUnopened: () => missing.size > 0,
    note: (event) => {
      const websiteId = event.stream.slice(dataKeyPrefix.length);
      const opened = open(websiteId, { forms: isDataKeyEvent(event) ? [event.data] : [] });
      void remembered(
        websiteId,
        opened.catch(() => load(websiteId)),
      );
    },
    forget: (websiteId) => void known.delete(websiteId),
    erase,
    reencrypt: async ({ actor }) => {
      const current = await cipher();
      const unopened: DataKeyOwner[] = [];
      let [reencrypted, unchanged] = [0, 0];
      for (const { websiteId, stored } of await storedKeys()) {
        const owner = { dataKeyOf: websiteId };
        if (stored.forms[0]?.keyId === current.keyId) {
          unchanged++;
          continue;
        }
        try {
          const key = await decryptKey(websiteId, stored.forms);
          const data = { ...current.encrypt(key, owner), at: at() };
          const expected = stored.revision;
          const renewed = { type: "DataKeyReencrypted" as const, data, expected, now: clock(), actor };
          await appendKeyEvent(store, websiteId, renewed).catch(throwUnavailable);
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
    replaceUnopened: async ({ actor }) => {
      const replaced: string[] = [];
      for (const { websiteId, stored } of await storedKeys()) {
        const isOpened = await open(websiteId, stored).then(
          () => true,
          (error) => {
            if (error instanceof DecryptionFailed) return false;
            throw error;
          },
        );
        if (isOpened) continue;
        await appendNewKey(websiteId, stored.revision, actor).catch(throwUnavailable);
        replaced.push(websiteId);
      }
      return replaced;
    },
  };
};
