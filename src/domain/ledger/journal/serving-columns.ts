import type { Chained, SynthesesServed } from "./journal.ts";
import type { AudioSource, Idempotency, ServedAudio, Serving, ServingDetails } from "./serving.ts";

/**
 * Upper bounds for the bytes of JSON that a serving, its audio and its trace context take in
 * addition to their texts: numbers, separators and names of members.
 */
const rowBytes = 48;
const audioBytes = 64;
const traceBytes = 32;

/**
 * Builds one `SynthesesServed`. Members are created in sorted order, because the canonical form is
 * then written fastest. Of a serving's texts, only voices and rare members may need escapes in
 * JSON, or several bytes per character.
 */
export class ServingColumns {
  readonly #keys = new Map<string, number>();
  readonly #audio: ServedAudio[] = [];
  /**
   * The first audio with each hash. Other audio with the same hash, which differs in a name or a
   * language, is found by all its members.
   */
  readonly #firstAudio = new Map<string, number>();
  readonly #otherAudio = new Map<string, number>();
  readonly #voiceBytes = new Map<string, number>();
  readonly #requestIds: string[] = [];
  readonly #key: number[] = [];
  readonly #audioIndexes: number[] = [];
  readonly #characters: number[] = [];
  readonly #cached: AudioSource[] = [];
  #details: Record<string, ServingDetails> | undefined;
  #bytes = 0;

  get length(): number {
    return this.#requestIds.length;
  }

  /** An upper bound for the size of the columns' JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds the serving unless the columns would exceed the size. Returns false if it was not added.
   * The first serving is always added.
   */
  add(serving: Serving, maxBytes: number): boolean {
    const { apiKey, requestId } = serving;
    const details = detailsOf(serving);
    const key = this.#keys.get(apiKey);
    const index = this.#indexOfAudio(serving);
    const bytes =
      this.#bytes +
      rowBytes +
      requestId.length +
      (key === undefined ? apiKey.length + 3 : 0) +
      (index === undefined ? this.#bytesOfAudio(serving) : 0) +
      (details ? bytesOfDetails(details) : 0);
    if (bytes > maxBytes && this.length > 0) return false;
    this.#bytes = bytes;
    if (details) {
      this.#details ??= {};
      this.#details[this.length] = details;
    }
    this.#key.push(key ?? this.#addKey(apiKey));
    this.#audioIndexes.push(index ?? this.#addAudio(serving));
    this.#requestIds.push(requestId);
    this.#characters.push(serving.characters);
    this.#cached.push(serving.cached);
    return true;
  }

  #indexOfAudio(serving: Serving): number | undefined {
    const first = this.#firstAudio.get(serving.hash);
    if (first === undefined || isSameAudio(serving, this.#audio[first])) return first;
    return this.#otherAudio.get(audioKey(serving));
  }

  #bytesOfAudio({ engine, format, hash, lang, voice }: Serving): number {
    let voiceBytes = this.#voiceBytes.get(voice);
    if (voiceBytes === undefined) {
      voiceBytes = jsonBytes(voice);
      this.#voiceBytes.set(voice, voiceBytes);
    }
    return audioBytes + engine.length + format.length + hash.length + lang.length + voiceBytes;
  }

  #addKey(apiKey: string): number {
    const index = this.#keys.size;
    this.#keys.set(apiKey, index);
    return index;
  }

  #addAudio(serving: Serving): number {
    const { engine, format, hash, lang, voice } = serving;
    const index = this.#audio.push({ engine, format, hash, lang, voice }) - 1;
    if (this.#firstAudio.has(hash)) this.#otherAudio.set(audioKey(serving), index);
    else this.#firstAudio.set(hash, index);
    return index;
  }

  /** Call it once, after the last `add`: it does not copy the columns. */
  build({ at, previous }: Chained): SynthesesServed {
    return {
      at,
      cached: this.#cached,
      characters: this.#characters,
      ...(this.#details && { details: this.#details }),
      key: this.#key,
      keys: [...this.#keys.keys()],
      previous,
      requestIds: this.#requestIds,
      sound: this.#audioIndexes,
      sounds: this.#audio,
    };
  }
}

const jsonBytes = (value: string | object): number => Buffer.byteLength(JSON.stringify(value)) + 1;

/** Telemetry adds a trace context to every serving; the other members are rare. */
const bytesOfDetails = ({ traceparent, ...rare }: ServingDetails): number =>
  (traceparent === undefined ? 0 : traceBytes + traceparent.length) +
  (Object.keys(rare).length > 0 || traceparent === undefined ? jsonBytes(rare) + rowBytes : 0);

const isSameAudio = (serving: Serving, audio: ServedAudio | undefined): boolean =>
  audio !== undefined &&
  serving.voice === audio.voice &&
  serving.lang === audio.lang &&
  serving.engine === audio.engine &&
  serving.format === audio.format &&
  serving.hash === audio.hash;

/** The key is unambiguous, because only voices contain spaces. */
const audioKey = ({ hash, engine, format, lang, voice }: Serving): string =>
  `${hash} ${engine} ${format} ${lang} ${voice}`;

/** Does not compile if it forgets a member of `servingDetails`. */
const detailsOf = (serving: Serving): ServingDetails | undefined => {
  const { failed, idempotency, part, partial, repeat, stream, traceparent, undelivered } = serving;
  const details = {
    ...(failed && { failed }),
    ...(idempotency && { idempotency: recordedIdempotency(idempotency) }),
    ...(part && { part: { bytes: part.bytes, size: part.size } }),
    ...(partial && { partial }),
    ...(repeat && { repeat }),
    ...(stream && { stream }),
    ...(traceparent !== undefined && { traceparent }),
    ...(undelivered && { undelivered }),
  };
  details satisfies Record<Exclude<keyof ServingDetails, keyof typeof details>, never>;
  return Object.keys(details).length > 0 ? details : undefined;
};

const recordedIdempotency = ({
  key,
  request,
  website,
}: Idempotency): NonNullable<ServingDetails["idempotency"]> => ({
  key,
  request,
  ...(website !== undefined && { website }),
});

/** The servings of the event, in order. */
export const expandServings = ({
  keys,
  sounds,
  requestIds,
  key,
  sound,
  characters,
  cached,
  details,
}: SynthesesServed): Serving[] =>
  requestIds.map((requestId, index) => ({
    apiKey: keys[key[index] as number] as string,
    requestId,
    ...(sounds[sound[index] as number] as ServedAudio),
    characters: characters[index] as number,
    cached: cached[index] as AudioSource,
    ...details?.[index],
  }));
