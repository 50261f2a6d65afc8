import pLimit from "p-limit";
import { CdnUnavailable, type PurgeCdn } from "../../audio/cdn-purge.ts";
import { type AudioStore, AudioStoreUnavailable, DamagedAudio } from "../../audio/store/audio-store.ts";
import { NotFound, Unavailable } from "../../domain/errors.ts";
import { formats } from "../../domain/synthesis/formats.ts";
import { isMarksName } from "../../domain/synthesis/marks.ts";
import { audioNamesOf, publicUrlPath } from "../../domain/synthesis/recipe.ts";
import type { AudioServings, CountServings, ServingsRequest } from "./audio-servings.ts";

/** An object of the audio store. */
export interface StoredFile {
  readonly name: string;
  readonly bytes: number;
  /** Absent for marks. */
  readonly seconds?: number;
  /** The time when it was last written or, with a retention, reported as used. ISO 8601, UTC. */
  readonly usedAt: string;
  /** True if it is served to everyone. */
  readonly public: boolean;
  /** The path of its permanent URL, below that of PUBLIC_URL. Absent unless it is public. */
  readonly path?: string;
  readonly isMarks: boolean;
}

export interface AudioDetails {
  readonly hash: string;
  /** Absent if it was not served in the period. */
  readonly servings?: AudioServings;
  /** Empty if the audio was deleted, or was never stored. */
  readonly objects: readonly StoredFile[];
  readonly asOfPosition: number;
}

export interface ListedAudio extends AudioServings {
  /** The size of the stored audio; absent if it is not stored. */
  readonly bytes?: number;
}

export interface AudioList {
  /** The most served come first. */
  readonly sounds: readonly ListedAudio[];
  /** Counts all servings of the period. */
  readonly served: number;
  readonly fromCache: number;
  readonly distinct: number;
  readonly isComplete: boolean;
  readonly asOfPosition: number;
}

const maxConcurrentReads = 4;

interface ListRequest extends Omit<ServingsRequest, "hash"> {
  readonly limit: number;
}

export type AudioReports = ReturnType<typeof createAudioReports>;

/** Finds what the service knows about audio, by its hash. */
export const createAudioReports = ({
  audioStore,
  countServings,
  purge,
}: {
  readonly audioStore: Pick<AudioStore, "stat">;
  readonly countServings: CountServings;
  /** Absent without a CDN. */
  readonly purge: PurgeCdn | undefined;
}) => {
  const limit = pLimit(maxConcurrentReads);
  const readFiles = async (names: readonly string[], signal: AbortSignal): Promise<StoredFile[]> => {
    const found = await limit.map(names, (name) => readAudio(audioStore, name, signal));
    return found.filter((file) => file !== undefined);
  };

  return {
    /**
     * @throws {Invalid} for a bad period
     * @throws {Unavailable}
     */
    list: async ({ limit: shown, ...request }: ListRequest): Promise<AudioList> => {
      const { sounds, ...totals } = await countServings(request);
      const most = [...sounds.values()].sort((a, b) => b.served - a.served).slice(0, shown);
      const listed = await orUnavailable(
        Promise.all(
          most.map(async (audio) => {
            const [file] = await readFiles(namesInFormat(audio), request.signal);
            return { ...audio, ...(file && { bytes: file.bytes }) };
          }),
        ),
      );
      return { ...totals, sounds: listed, distinct: sounds.size };
    },
    /**
     * @throws {NotFound} if it is not a hash
     * @throws {Invalid}
     * @throws {Unavailable}
     */
    find: async (hash: string, request: Omit<ServingsRequest, "hash">): Promise<AudioDetails> => {
      checkHash(hash);
      const { sounds, asOfPosition } = await countServings({ ...request, hash });
      const servings = sounds.get(hash);
      const objects = await orUnavailable(readFiles(audioNamesOf(hash), request.signal));
      return { hash, ...(servings && { servings }), objects, asOfPosition };
    },
    /**
     * Makes the CDN forget audio. `purged` is false if no CDN is configured.
     * @throws {NotFound} if it is not a hash
     * @throws {Unavailable}
     */
    purge: async (hash: string): Promise<{ readonly hash: string; readonly purged: boolean }> => {
      checkHash(hash);
      try {
        await purge?.(hash);
      } catch (error) {
        if (!(error instanceof CdnUnavailable)) throw error;
        throw new Unavailable(`The purge is incomplete, repeat it: ${error.message}`, 5, { cause: error });
      }
      return { hash, purged: purge !== undefined };
    },
  };
};

/** The names that the audio may have in the store, one per folder. Only one of them is used. */
const namesInFormat = ({ hash, format }: AudioServings): string[] =>
  audioNamesOf(hash).filter((name) => name.endsWith(`.${formats[format].extension}`));

/** @throws {NotFound} */
export const checkHash = (hash: string): void => {
  if (/^[0-9a-f]{64}$/.test(hash)) return;
  throw new NotFound("There is no such audio: a hash has 64 hexadecimal digits, as in the ETag.");
};

const readAudio = async (
  store: Pick<AudioStore, "stat">,
  name: string,
  signal: AbortSignal,
): Promise<StoredFile | undefined> => {
  const file = await store.stat(name, signal).catch((error: unknown) => {
    if (error instanceof DamagedAudio) return undefined; // requests treat it as missing too
    throw error;
  });
  if (!file) return undefined;
  const { size, length, usedAt } = file;
  const isMarks = isMarksName(name);
  const isPublic = name.startsWith("public/");
  return {
    name,
    bytes: size,
    ...(!isMarks && { seconds: length.samples / length.sampleRate }),
    usedAt: new Date(usedAt).toISOString(),
    public: isPublic,
    ...(isPublic && { path: publicUrlPath(name) }),
    isMarks,
  };
};

const orUnavailable = async <T>(reading: Promise<T>): Promise<T> => {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof AudioStoreUnavailable)) throw error;
    throw new Unavailable("The audio store cannot be read.", 5, { cause: error });
  }
};
