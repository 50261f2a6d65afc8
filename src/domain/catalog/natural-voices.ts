import type { ShortGender, SystemVoice, Voice } from "../synthesis/speech.ts";
import { firstVoiceIds } from "../synthesis/voice-ids.ts";
import { releaseSeed } from "./seed/seed.ts";
import type { CatalogVoices } from "./voice-names.ts";

/** `classic`: only voices that need no download speak. */
export const voiceChoices = ["natural", "classic"] as const;
export type VoiceChoice = (typeof voiceChoices)[number];

/** A voice whose files are installed beside the program: see `engines/natural-voices`. */
interface NaturalVoice extends SystemVoice {
  readonly lang: string;
  readonly gender: ShortGender;
  /** The package's name, a colon, and the voice's name. */
  readonly voiceName: string;
}

/**
 * Ids are permanent: a voice keeps its offset, and a new voice gets the next offset of its package.
 */
const natural = (offset: number, voiceName: string, lang: string, gender: ShortGender): NaturalVoice => ({
  id: firstVoiceIds.natural + offset,
  name: voiceName.replace(":", "-"),
  lang,
  fallbackVoice: true,
  service: "g1",
  voiceName,
  gender,
});

/**
 * The languages of Kokoro's voices, by the first letter of their names. The second letter is the
 * gender.
 */
export const kokoroLanguages: Readonly<Record<string, string>> = {
  a: "en-US",
  b: "en-GB",
  e: "es-ES",
  f: "fr-FR",
  h: "hi-IN",
  i: "it-IT",
  j: "ja-JP",
  p: "pt-BR",
  z: "zh-CN",
};

const kokoroVoices = [
  "af_heart af_alloy af_aoede af_bella af_jessica af_kore af_nicole af_nova af_river af_sarah af_sky",
  "am_adam am_echo am_eric am_fenrir am_liam am_michael am_onyx am_puck am_santa",
  "bf_emma bf_alice bf_isabella bf_lily bm_fable bm_daniel bm_george bm_lewis",
  "ef_dora em_alex em_santa ff_siwis hf_alpha hf_beta hm_omega hm_psi if_sara im_nicola",
  "jf_alpha jf_gongitsune jf_nezumi jf_tebukuro jm_kumo pf_dora pm_alex pm_santa",
  "zf_xiaobei zf_xiaoni zf_xiaoxiao zf_xiaoyi zm_yunjian zm_yunxi zm_yunxia zm_yunyang",
].flatMap((line) => line.split(" "));

const kokoroVoice = (name: string, index: number): NaturalVoice => {
  const lang = kokoroLanguages[name.charAt(0)] ?? "en-US";
  return natural(200 + index, `kokoro:${name}`, lang, name.charAt(1) === "m" ? "m" : "f");
};

/**
 * Languages for which no program here writes the symbols that Kokoro's model reads. Their voices
 * are not installed.
 */
const unreadByKokoro: ReadonlySet<string> = new Set(["ja-JP", "zh-CN"]);

const isKokoro = ({ voiceName }: Pick<NaturalVoice, "voiceName">): boolean => voiceName.startsWith("kokoro:");

/** All natural voices. For each language and gender, the better one comes first. */
export const naturalVoices: readonly NaturalVoice[] = [
  natural(0, "hibari:heart", "en-US", "f"),
  natural(1, "hibari:emma", "en-GB", "f"),
  natural(2, "hibari:fable", "en-GB", "m"),
  natural(3, "hibari:fenrir", "en-US", "m"),
  natural(4, "hibari:kore", "en-US", "f"),
  natural(100, "pico:en-GB", "en-GB", "f"),
  natural(101, "pico:en-US", "en-US", "f"),
  natural(102, "pico:de-DE", "de-DE", "f"),
  natural(103, "pico:fr-FR", "fr-FR", "f"),
  natural(104, "pico:es-ES", "es-ES", "f"),
  natural(105, "pico:it-IT", "it-IT", "f"),
  ...kokoroVoices.map(kokoroVoice),
];

/**
 * The voices that `scripts/natural-voices` installs without options. A voice is left out here if
 * another one of them is preferred for its language and gender.
 */
export const defaultNaturalVoices: readonly string[] = [
  "hibari:heart",
  "pico:en-GB",
  "pico:de-DE",
  "pico:fr-FR",
  "pico:es-ES",
  "pico:it-IT",
];

/** The default voices, and the others that are installed. */
export const voicesToChoose = (isInstalled: (voiceName: string) => boolean): readonly string[] =>
  naturalVoices
    .map(({ voiceName }) => voiceName)
    .filter((name) => defaultNaturalVoices.includes(name) || isInstalled(name));

/**
 * The natural voices that can be installed and would then speak: each is the best one of a language
 * and gender, or a fallback of the best one.
 */
export const installableVoices = (): readonly NaturalVoice[] =>
  speakingNaturalVoices(naturalVoices.filter((one) => !(isKokoro(one) && unreadByKokoro.has(one.lang))));

/** The command that installs these voices. */
export const installCommand = (voiceNames: readonly string[]): string =>
  voiceNames.some((voiceName) => isKokoro({ voiceName }))
    ? "scripts/natural-voices --kokoro"
    : "scripts/natural-voices";

export const isNatural = ({ id }: Pick<SystemVoice, "id">): boolean => id >= firstVoiceIds.natural;

/** A catalog in which natural voices speak. */
interface NaturalCatalog extends CatalogVoices {
  /** The natural voices that speak their languages and friendly voices, best first. */
  readonly preferred: readonly NaturalVoice[];
}

/**
 * Adds natural voices to the system voices. In the release's friendly voices, it puts them before
 * the engines' voices of the same language and gender. A friendly voice stays as it is if an
 * operator has added it, or has changed which engines' voices speak it.
 */
export const withNaturalVoices = (catalog: CatalogVoices, chosen: readonly string[]): NaturalCatalog => {
  const added = naturalVoices.filter(({ voiceName }) => chosen.includes(voiceName));
  if (added.length === 0) return { ...catalog, preferred: [] };
  const preferred = speakingNaturalVoices(added);
  const byId = new Map(catalog.systemVoices.map((one) => [one.id, one]));
  const mixed = (voice: Voice): Voice => {
    if (!hasReleaseVoices(voice)) return voice;
    const first = voice.voiceIDs.findIndex(isOfRelease);
    const { lang, gender } = byId.get(voice.voiceIDs[first] ?? 0) ?? {};
    const before = preferred.filter((one) => one.lang === lang && one.gender === gender);
    if (before.length === 0) return voice;
    return { ...voice, voiceIDs: voice.voiceIDs.toSpliced(first, 0, ...before.map(({ id }) => id)) };
  };
  return {
    voices: catalog.voices.map(mixed),
    systemVoices: [...catalog.systemVoices, ...added],
    preferred,
  };
};

/**
 * Lists the natural voices that requests by language or friendly voice use, best first. Kokoro is
 * slow, so its first voice of each gender speaks only languages that no other natural voice speaks.
 */
const speakingNaturalVoices = (added: readonly NaturalVoice[]): readonly NaturalVoice[] => {
  const fast = added.filter((one) => !isKokoro(one));
  const langs = new Set(fast.map(({ lang }) => lang));
  const slow = added.filter((one) => isKokoro(one) && !langs.has(one.lang));
  const byVoice = Map.groupBy(slow, ({ lang, gender }) => `${lang} ${gender}`);
  return [...fast, ...[...byVoice.values()].flatMap(([first]) => first ?? [])];
};

/** Engines' voices of a release have ids below those of browsers' voices. */
const isOfRelease = (id: number): boolean => id < firstVoiceIds.native;

const releaseIdsOf = ({ voiceIDs }: Pick<Voice, "voiceIDs">): string => voiceIDs.filter(isOfRelease).join();

let releaseIds: ReadonlyMap<string, string> | undefined;

/**
 * True if the release's own voices speak the friendly voice, in the release's order, and no voice
 * of an operator does.
 */
const hasReleaseVoices = (voice: Voice): boolean => {
  releaseIds ??= new Map(releaseSeed().voices.map((one) => [one.name, releaseIdsOf(one)]));
  const isOperators = (id: number): boolean => id >= firstVoiceIds.operator;
  return releaseIds.get(voice.name) === releaseIdsOf(voice) && !voice.voiceIDs.some(isOperators);
};
