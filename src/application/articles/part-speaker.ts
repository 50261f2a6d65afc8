import { LRUCache } from "lru-cache";
import pLimit, { type LimitFunction } from "p-limit";
import { untilAborted } from "../../async/deadline.ts";
import { type Outcome, retry } from "../../async/retry.ts";
import type { Time } from "../../async/time.ts";
import type { Audio, Pipeline, Rendition, StreamedAudio } from "../../audio/pipeline/pipeline.ts";
import { Forbidden, ServiceError, Unavailable } from "../../domain/errors.ts";
import { hasLengthInHeader } from "../../domain/synthesis/formats.ts";
import type { FindActiveKey } from "../access/active-key.ts";
import { keepsNoAudio } from "../synthesis/charges.ts";
import type { SpokenPart } from "./planned-part.ts";

export type PartSpeaker = ReturnType<typeof createPartSpeaker>;

interface PartSpeakerOptions {
  readonly pipeline: Pick<Pipeline, "obtain" | "stream">;
  readonly findActiveKey: FindActiveKey;
  readonly time: Time;
}

interface Article {
  readonly apiKey: string;
  /** The parts in the order in which they are read. */
  readonly parts: readonly SpokenPart[];
  /** Called for each part that is not spoken in the end, and awaited before the next ones. */
  readonly onFailed: (part: SpokenPart, error: unknown) => Promise<void>;
}

/**
 * The most parts of an article that are spoken at once, and of all articles of a key. Readers wait
 * for the first parts of articles, so these never wait for others.
 */
const perArticle = 2;
const perKey = { first: 2, others: 4 };
interface WaitingPart {
  readonly begun: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
  /** The API keys for which it is to be spoken. */
  readonly keys: Set<string>;
}

type KeyLimits = Readonly<Record<keyof typeof perKey, LimitFunction>>;

/** The most attempts to speak a part while the service is overloaded. */
const maxAttempts = 5;
/** A voice that has failed is tried again after this time. */
const fallbackMs = 60_000;
const maxRemembered = 2_000;
/** The texts of articles that wait are in memory. */
const maxArticles = 500;

/**
 * Speaks the parts of articles in the background, in order, in the fair queue of their key. A part
 * is spoken once at a time.
 */
export const createPartSpeaker = ({ pipeline, findActiveKey, time }: PartSpeakerOptions) => {
  const closing = new AbortController();
  const { signal } = closing;
  const articles = new Set<Promise<unknown>>();
  /** The parts that wait or are being spoken, by the hash of their first rendition. */
  const waiting = new Map<string, WaitingPart>();
  /** The parts that the pipeline obtains at present, by the same hash. */
  const speaking = new Map<string, { readonly first: Rendition; readonly apiKey: string }>();
  const keys = new Map<string, KeyLimits & { articles: number }>();
  const refusals = new LRUCache<string, Error>({ maxSize: maxRemembered, sizeCalculation: () => 1 });
  const fallbacks = new LRUCache<string, { readonly rendition: Rendition; readonly until: number }>({
    maxSize: maxRemembered,
    sizeCalculation: () => 1,
  });

  const speakPart = async (part: SpokenPart, apiKey: string): Promise<void> => {
    const [first] = part.renditions;
    const { hash } = first;
    const delayAfter = (outcome: Outcome<Audio>, attempt: number): number | undefined =>
      "error" in outcome && outcome.error instanceof Unavailable && !signal.aborted && attempt < maxAttempts
        ? outcome.error.retryAfterSeconds * 1_000 * attempt
        : undefined;
    const { rendition } = await retry({ time, signal, delayAfter }, async () => {
      signal.throwIfAborted();
      if (!findActiveKey(apiKey)) throw new Forbidden("The key has been suspended.");
      const obtained = pipeline.obtain(part.renditions, signal, apiKey);
      speaking.set(hash, { first, apiKey });
      waiting.get(hash)?.begun.resolve();
      return await obtained.finally(() => speaking.delete(hash));
    });
    if (rendition.hash !== hash) fallbacks.set(hash, { rendition, until: time.now() + fallbackMs });
  };

  /** The number of parts of a key that are spoken at once is limited over all of its articles. */
  const limitsOf = (apiKey: string): KeyLimits & Disposable => {
    const opened = { first: pLimit(perKey.first), others: pLimit(perKey.others), articles: 0 };
    const key = keys.get(apiKey) ?? opened;
    key.articles++;
    keys.set(apiKey, key);
    const end = (): void => {
      if (--key.articles === 0) keys.delete(apiKey);
    };
    return { first: key.first, others: key.others, [Symbol.dispose]: end };
  };

  const addWaiting = (hash: string, apiKey: string): void => {
    const part = waiting.get(hash) ?? {
      begun: Promise.withResolvers<void>(),
      ended: Promise.withResolvers<void>(),
      keys: new Set(),
    };
    part.keys.add(apiKey);
    waiting.set(hash, part);
  };

  const endWaiting = (hash: string, apiKey: string): void => {
    const part = waiting.get(hash);
    part?.keys.delete(apiKey);
    if (part?.keys.size !== 0) return;
    waiting.delete(hash);
    part.ended.resolve();
  };

  const speakArticle = async ({ apiKey, parts, onFailed }: Article): Promise<void> => {
    using key = limitsOf(apiKey);
    const speakOne = async (part: SpokenPart, limit: LimitFunction): Promise<void> => {
      const [{ hash }] = part.renditions;
      try {
        await limit(() => speakPart(part, apiKey));
      } catch (error) {
        if (keepsNoAudio(error)) refusals.set(hash, error);
        // Not all parts of a suspended key at once: the ledger would refuse the requests of others.
        await untilAborted(onFailed(part, error), signal).catch(() => {});
      } finally {
        endWaiting(hash, apiKey);
      }
    };
    const [first, ...others] = parts;
    if (first) await speakOne(first, key.first); // alone, because the reader waits for it
    await pLimit(perArticle).map(others, (part) => speakOne(part, key.others));
  };

  return {
    /** Resolves when all parts of the article are spoken, or have failed. */
    speak: async (article: Article): Promise<void> => {
      for (const { renditions } of article.parts) addWaiting(renditions[0].hash, article.apiKey);
      const spoken = speakArticle(article).finally(() => articles.delete(spoken));
      articles.add(spoken);
      await spoken;
    },
    /** @throws {Unavailable} if too many articles are being spoken, of all keys */
    requireRoom: (): void => {
      if (articles.size >= maxArticles) throw new Unavailable("Too many articles are being spoken.", 5);
    },
    /**
     * True if the part waits, or is being spoken, for the key. If it waits for another key, it may
     * wait for long, and is not spoken if that key is suspended.
     */
    isWaitingFor: (hash: string, apiKey: string): boolean => waiting.get(hash)?.keys.has(apiKey) ?? false,
    /** Resolves when the part is spoken or has failed; undefined if it does not wait here. */
    ended: (hash: string): Promise<void> | undefined => waiting.get(hash)?.ended.promise,
    /** Resolves when the pipeline gets the part; undefined if it does not wait here. */
    begun: (hash: string): Promise<void> | undefined => waiting.get(hash)?.begun.promise,
    /**
     * Resolves with the first bytes of a part that is being spoken. Undefined if it is not, or has
     * other bytes when it is complete: see `Pipeline.stream` and `Pipeline.asKept`.
     */
    stream: async (hash: string, signal: AbortSignal): Promise<StreamedAudio | undefined> => {
      const { first, apiKey } = speaking.get(hash) ?? {};
      const isKept = first?.recipe.encoding === undefined;
      if (!first || isKept || hasLengthInHeader(first.recipe.format)) return undefined;
      return await pipeline.stream([first], signal, apiKey).catch((error: unknown) => {
        if (error instanceof ServiceError) return undefined; // `obtain` tries further
        throw error;
      });
    },
    /** The reason for which the part will never be spoken, as far as this process knows. */
    refusal: (hash: string): Error | undefined => refusals.get(hash),
    /** The rendition that has replaced the part's within a minute. */
    fallback: (hash: string): Rendition | undefined => {
      const known = fallbacks.get(hash);
      return known && known.until > time.now() ? known.rendition : undefined;
    },
    /** Resolves when no part is being spoken any more. Those that wait fail. */
    close: async (): Promise<void> => {
      closing.abort(new Unavailable("The service is shutting down.", 1));
      await Promise.all(articles);
    },
  };
};
