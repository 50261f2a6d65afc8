import { Invalid, NotFound } from "../errors.ts";
import { isByok } from "../synthesis/byok-providers.ts";
import type { AudioFormat } from "../synthesis/formats.ts";
import {
  type EngineCode,
  engineCodes,
  engines,
  type Gender,
  type SystemVoice,
  type Voice,
} from "../synthesis/speech.ts";
import type { CatalogIndex } from "./catalog-index.ts";
import { isSameLanguage, matchLanguage } from "./language-match.ts";
import { isNatural } from "./natural-voices.ts";

/** The voice parameters of a synthesis request, normalised. */
export interface VoiceRequest {
  readonly voice?: string | undefined;
  readonly lang?: string | undefined;
  readonly engine?: EngineCode | undefined;
  /** A system voice's name, an engine's own name for it, or a friendly name. */
  readonly name?: string | undefined;
  readonly gender?: Gender | undefined;
  readonly format?: AudioFormat | undefined;
  /**
   * True if `format` may be any format. By default it must be one that `/v2` offers for the engine.
   */
  readonly anyFormat?: boolean | undefined;
  readonly ssml: boolean;
}

/** One way to speak the request. */
export interface Candidate {
  readonly engine: EngineCode;
  readonly systemVoice: SystemVoice;
  /** The engine's own name for the voice. */
  readonly voiceName: string;
  readonly lang: string;
  /** The requested friendly name, or the system voice's name. The ledger records it. */
  readonly label: string;
  /** The requested format, or the engine's default. */
  readonly format: AudioFormat;
}

/**
 * The engines that speak a language if the request names no engine, in this order. g5 has only its
 * own languages (Armenian, Esperanto, Macedonian, Welsh), so it comes first.
 */
export const freeEngineOrder: readonly EngineCode[] = ["g5", "g1", "g2", "g3"];

/**
 * The candidates for a request, best first; never empty. `voice` overrides everything else; its
 * system voices are tried in order. Else `name` selects a system or friendly voice (see
 * `VoiceNames`). Else `lang` selects a voice, with its fallbacks, of `engine` if that is given,
 * else of each free engine.
 * @throws {NotFound} if no voice has that name, or no engine speaks that language
 * @throws {Invalid} for `lang`, if neither voice nor language is given; for `format` or `text`, if
 * no candidate's engine supports it
 */
export const resolveVoices = (
  catalog: CatalogIndex,
  request: VoiceRequest,
  takesSsml: (candidate: Candidate) => boolean,
): readonly Candidate[] => {
  const found = find(catalog, request);
  const fit = found.filter(offers(request));
  if (fit.length === 0) throw unsupportedFormat(found, request.format);
  if (!request.ssml) return fit;
  const able = fit.filter(takesSsml);
  if (able.length === 0) throw invalid("text", "No engine that has this voice takes SSML.");
  return able;
};

const find = (catalog: CatalogIndex, request: VoiceRequest): Candidate[] => {
  if (request.voice !== undefined) return byVoice(catalog, request.voice, request);
  const { lang } = request;
  if (lang === undefined) throw invalid("lang", "Either voice or lang is needed.");
  if (request.engine) requireProvider(catalog, request.engine);
  return request.name !== undefined
    ? candidatesByName(catalog, request.name, lang, request)
    : byLanguage(catalog, lang, request);
};

const byVoice = (catalog: CatalogIndex, name: string, request: VoiceRequest): Candidate[] => {
  const voice = catalog.voice(name);
  if (!voice) throw new NotFound(`There is no voice named ${quote(name)}.`, "voice");
  const candidates = candidatesForVoice(catalog, voice, request);
  if (candidates.length === 0) throw new NotFound(`No engine speaks the voice ${quote(name)}.`, "voice");
  return candidates;
};

const candidatesForVoice = (catalog: CatalogIndex, voice: Voice, request: VoiceRequest): Candidate[] =>
  voice.voiceIDs.flatMap((id) => {
    const systemVoice = catalog.systemVoice(id);
    return systemVoice ? candidate(systemVoice, voice.name, voice.lang, request) : [];
  });

/**
 * The candidates of the best match that the requested engine speaks. They speak the voice's own
 * language, even if `lang` differs.
 */
const candidatesByName = (
  catalog: CatalogIndex,
  name: string,
  lang: string,
  request: VoiceRequest,
): Candidate[] => {
  for (const match of catalog.named(name)) {
    const found =
      match.kind === "system"
        ? nearestSystemVoice(match.voices, lang, request)
        : nearestVoice(catalog, match.voices, lang, request);
    if (found.length > 0) return found;
  }
  throw new NotFound(
    `${engineList(request.engine ? [request.engine] : engineCodes)} no voice named ${quote(name)}.`,
    "voice",
  );
};

/**
 * The candidates for a voice that an SSML document names. The name is matched like the `name` of a
 * request. Empty if no voice has that name.
 */
export const voicesNamed = (catalog: CatalogIndex, name: string, lang: string): readonly Candidate[] => {
  try {
    return candidatesByName(catalog, name, lang, { anyFormat: true, ssml: true });
  } catch (error) {
    if (error instanceof NotFound) return [];
    throw error;
  }
};

/**
 * Chooses among system voices with the same name by language and gender, then by engine. It prefers
 * one that has the format.
 */
const nearestSystemVoice = (
  voices: readonly SystemVoice[],
  lang: string,
  request: VoiceRequest,
): Candidate[] => {
  const eligible = voices.filter(({ service }) => isEligible(service, request));
  const candidates = nearest(eligible, lang, request).flatMap((one) =>
    candidate(one, one.name, lang, request),
  );
  const ordered = engineCodes.flatMap((code) => candidates.filter(({ engine }) => engine === code));
  const best = ordered.find(offers(request)) ?? ordered[0];
  return best ? [best] : [];
};

const nearestVoice = (
  catalog: CatalogIndex,
  voices: readonly Voice[],
  lang: string,
  request: VoiceRequest,
): Candidate[] => {
  const candidatesOf = (voice: Voice): Candidate[] =>
    candidatesForVoice(catalog, voice, request).filter(({ engine }) => isEligible(engine, request));
  const eligible = voices.filter((voice) => candidatesOf(voice).length > 0);
  const [voice] = nearest(eligible, lang, request);
  return voice ? candidatesOf(voice) : [];
};

const nearest = <V extends Voice | SystemVoice>(
  voices: readonly V[],
  lang: string,
  { gender }: VoiceRequest,
): readonly V[] => preferGender(preferCurrent(preferLanguage(voices, lang)), gender);

const isEligible = (engine: EngineCode | undefined, request: VoiceRequest): boolean =>
  request.engine === undefined || engine === request.engine;

const byLanguage = (catalog: CatalogIndex, wanted: string, request: VoiceRequest): Candidate[] => {
  const engineOrder = request.engine ? [request.engine] : freeEngineOrder;
  const speakers = preferGender(preferCurrent(catalog.speakers(engineOrder, wanted)), request.gender);
  const first = engineOrder.flatMap((engine) =>
    withFallback(
      catalog,
      speakers.filter(({ service }) => service === engine),
    ),
  );
  const candidates = first.flatMap((systemVoice) =>
    candidate(systemVoice, systemVoice.name, wanted, request),
  );
  if (candidates.length > 0) return candidates;
  throw new NotFound(`${engineList(engineOrder)} no voice for the language ${quote(wanted)}.`, "voice");
};

/**
 * Returns the first voice. If it is a preferred one, fallbacks follow: natural voices of its
 * gender, then an engine's own voice.
 */
const withFallback = ({ preferred }: CatalogIndex, speakers: readonly SystemVoice[]): SystemVoice[] => {
  const isPreferred = ({ id }: SystemVoice): boolean => preferred.some((one) => one.id === id);
  const [first, ...others] = speakers;
  if (!first) return [];
  if (!isPreferred(first)) return [first];
  const natural = others.filter((one) => isPreferred(one) && isNatural(one) && one.gender === first.gender);
  return [first, ...natural, ...others.filter((one) => !isPreferred(one)).slice(0, 1)];
};

/** True if the format is offered. A format that the engine itself lacks is encoded here. */
const offers =
  ({ anyFormat = false }: VoiceRequest) =>
  ({ engine, format }: Candidate): boolean =>
    anyFormat || engines[engine].formats.includes(format);

/** Empty for a native voice, which no engine speaks. */
const candidate = (
  systemVoice: SystemVoice,
  label: string,
  lang: string,
  request: VoiceRequest,
): Candidate[] => {
  const { service: engine, voiceName } = systemVoice;
  if (engine === undefined || voiceName === undefined) return [];
  const format = request.format ?? engines[engine].defaultFormat;
  return [{ engine, systemVoice, voiceName, lang: systemVoice.lang ?? request.lang ?? lang, label, format }];
};

const requireProvider = (catalog: CatalogIndex, engine: EngineCode): void => {
  if (catalog.spokenBy(engine).length > 0) return;
  const missing = isByok(engine) ? "the website has no credentials for it" : "it has no voices";
  throw new NotFound(`There is no provider for the engine ${engine}: ${missing}.`, "engine");
};

const unsupportedFormat = (found: readonly Candidate[], format: AudioFormat | undefined): Invalid => {
  const able = [...new Set(found.map(({ engine }) => engine))]
    .map((engine) => `${engine} speaks ${engines[engine].formats.join(", ")}`)
    .join("; ");
  return invalid("format", `The format ${format} is not available: ${able}.`);
};

const invalid = (path: string, message: string): Invalid => new Invalid([{ path: [path], message }]);

const engineList = (engines: readonly EngineCode[]): string =>
  engines.length === 1 ? `The engine ${engines[0]} has` : `The engines ${engines.join(", ")} have`;

/** Names come from the request: long ones are truncated. */
export const quote = (text: string): string =>
  JSON.stringify(text.length <= 100 ? text : `${text.slice(0, 100)}…`);

// The functions below filter voices. They return all voices if none matches.

type AnyVoice = Pick<Voice | SystemVoice, "lang" | "gender" | "deprecated">;

/** The voices of the nearest language. A voice without a language speaks every language. */
const preferLanguage = <V extends AnyVoice>(voices: readonly V[], wanted: string): readonly V[] => {
  if (voices.length < 2) return voices;
  const langs = new Set(voices.map(({ lang = wanted }) => lang));
  const nearest = matchLanguage(wanted, [...langs]);
  return preferring(voices, ({ lang = wanted }) => nearest !== undefined && isSameLanguage(lang, nearest));
};

const preferCurrent = <V extends AnyVoice>(voices: readonly V[]): readonly V[] =>
  preferring(voices, ({ deprecated }) => !deprecated);

const preferGender = <V extends AnyVoice>(voices: readonly V[], wanted: Gender | undefined): readonly V[] =>
  preferring(voices, ({ gender }) => gender === wanted?.charAt(0));

const preferring = <V>(voices: readonly V[], fits: (voice: V) => boolean): readonly V[] => {
  const fitting = voices.filter(fits);
  return fitting.length > 0 ? fitting : voices;
};
