import type { ArticlePart, ArticleRequest } from "../api/articles.ts";
import type { ServiceApi } from "../api/service-api.ts";
import type { OpenedAudio, SynthesisQuery } from "../api/synthesis.ts";
import { VoxledgerError } from "../errors.ts";
import { type SpokenPart, synthesisQuery, type Transport } from "./transport.ts";

/** The service's limits of one request. */
const maxParts = 200;
const maxCharacters = 100_000;

/** Addresses of this many parts are remembered, so that a seek needs no further request. */
const maxRemembered = 2_000;

type Prepared = Promise<ArticlePart | undefined>;

/**
 * Prepares the parts of an article with one request, and then loads each from the address that it
 * has for all readers. A longer article needs a further request when its reading gets there. A
 * service without articles synthesizes each part by itself.
 */
export const createArticleTransports = ({
  api,
  single,
}: {
  readonly api: Pick<ServiceApi, "prepareArticle" | "loadPart">;
  /** Synthesizes one part. */
  readonly single: Transport;
}): ((parts: readonly SpokenPart[]) => Transport) => {
  const known = new Map<string, Prepared>();
  let isSupported = true;
  /** True after a 404, which means an earlier version of the service, or voices that it lacks. */
  let isInDoubt = false;

  const prepare = async (window: readonly SynthesisQuery[], maxWaitMs?: number): Promise<Prepared[]> => {
    try {
      const { parts } = await api.prepareArticle(articleRequest(window), maxWaitMs);
      isInDoubt = false;
      return window.map(async (_, index) => parts[index]);
    } catch (error) {
      const { status } = error as VoxledgerError;
      if (status === 404) isInDoubt = true;
      if (status !== 404 && status !== 400) throw error;
      return window.map(async () => undefined); // the request for a single part fails with its own reason
    }
  };

  /** Prepares all parts from this one on that fit into a request, and are not prepared yet. */
  const prepareFrom = (first: SynthesisQuery, following: readonly SpokenPart[], maxWaitMs?: number): void => {
    const window = windowOf([first, ...following.map(queryOf)].filter((query) => !known.has(keyOf(query))));
    const preparing = prepare(window, maxWaitMs);
    for (const [index, query] of window.entries()) {
      const key = keyOf(query);
      const prepared = preparing.then((all) => all[index]);
      known.set(key, prepared);
      prepared.catch(() => known.delete(key)); // asked for again at the next attempt
    }
    for (const key of known.keys()) if (known.size > maxRemembered) known.delete(key);
  };

  return (parts) => async (part, voice, signal) => {
    const query = synthesisQuery(part, voice);
    const key = keyOf(query);
    const load = async (): Promise<OpenedAudio> => {
      if (!isSupported) return await single(part, voice, signal);
      if (!known.has(key)) {
        prepareFrom(
          query,
          parts.filter((one) => one.part.index > part.index),
          voice.maxWaitMs,
        );
      }
      const prepared = await known.get(key);
      if (!prepared) {
        const audio = await single(part, voice, signal);
        if (isInDoubt) isSupported = false; // it has the voice
        return audio;
      }
      if (prepared.error) throw new VoxledgerError(prepared.error.message, { code: "NOT_FOUND" });
      return await api.loadPart(prepared, signal, voice.maxWaitMs);
    };
    try {
      return await load();
    } catch (error) {
      const { status } = error as VoxledgerError;
      const wasForgotten = status !== undefined && known.delete(key);
      // The address of private audio has expired, or the audio was removed: it gets another one.
      if (status !== 404 || !wasForgotten) throw error;
      return await load();
    }
  };
};

const queryOf = ({ part, voice }: SpokenPart): SynthesisQuery => synthesisQuery(part, voice);

const keyOf = (query: SynthesisQuery): string => JSON.stringify(query);

/** The parts that one request may have. All have the same prosody. */
const windowOf = (queries: readonly SynthesisQuery[]): SynthesisQuery[] => {
  let characters = 0;
  const end = queries.slice(0, maxParts).findIndex(({ text }) => {
    characters += [...text].length;
    return characters > maxCharacters;
  });
  return queries.slice(0, end < 0 ? maxParts : Math.max(end, 1));
};

const articleRequest = (window: readonly SynthesisQuery[]): ArticleRequest => {
  const { pitch, rate, volume } = window[0] ?? {};
  const parts = window.map(({ text, voice, lang }, index) => ({ id: String(index), text, voice, lang }));
  return { parts, pitch, rate, volume };
};
