import type { EngineCode, ShortGender, SystemVoice, Voice } from "../../synthesis/speech.ts";
import type { CatalogVoices } from "../voice-names.ts";
import { accents, otherNames } from "./further-voices.ts";
import { type Line, languages } from "./languages.ts";
import { nativeVoices, type SeededNativeVoice } from "./native-voices.ts";

/**
 * The voices of this release: browsers' native voices, and those of espeak-ng and flite, by engine
 * code, language and gender. Ids never change: engines' voices have ids below 10,000, browsers'
 * voices ids below 100,000.
 */
export const releaseSeed = (): CatalogVoices => {
  const spoken = languages.flatMap(friendlyVoices);
  const voices = [...spoken, ...accentedVoices(spoken)];
  return {
    voices: [...voices, ...renamedVoices(voices)],
    systemVoices: [...languages.flatMap(systemVoices), ...nativeVoices.map(nativeSystemVoice)],
  };
};

/** A system voice's index in its line. Ids are derived from it, so indexes never change. */
interface Place {
  readonly place: number;
  readonly service: EngineCode;
  readonly gender: ShortGender;
  /** espeak-ng's variant: `f…` and `m…` change the timbre, `klatt…` uses another synthesizer. */
  readonly variant: string;
}

/**
 * Both genders on the first two engines, and a male voice on the third, in the order of fallbacks.
 */
const places: readonly Place[] = [
  { place: 0, service: "g1", gender: "f", variant: "+f3" },
  { place: 1, service: "g1", gender: "m", variant: "" },
  { place: 2, service: "g2", gender: "f", variant: "+f2" },
  { place: 3, service: "g2", gender: "m", variant: "+klatt2" },
  { place: 4, service: "g3", gender: "m", variant: "+m3" },
];

/**
 * Only g5 speaks the specialty languages, and it offers only ogg. If another engine had voices for
 * them, a request for mp3 would be served instead of being refused.
 */
const specialtyPlaces: readonly Place[] = [
  { place: 5, service: "g5", gender: "f", variant: "+f3" },
  { place: 6, service: "g5", gender: "m", variant: "" },
];
const specialtyLanguages = ["hy-AM", "hyw", "eo", "mk-MK", "cy-GB"];

/**
 * Where flite has a voice, g1 has that voice, because it is more natural, and g2 has espeak-ng's
 * best one.
 */
const fliteVoices: Readonly<Record<string, Partial<Record<ShortGender, string>>>> = {
  "en-US": { f: "slt", m: "rms" },
  "en-GB-scotland": { m: "awb" },
};

const idOf = (number: number, place: number): number => number * 10 + place;

const placesOf = (lang: string): readonly Place[] =>
  specialtyLanguages.includes(lang) ? specialtyPlaces : places;

const systemVoices = ([number, lang, file]: Line): SystemVoice[] =>
  placesOf(lang).map(({ place, service, gender, variant }) => ({
    id: idOf(number, place),
    name: `${service}-${lang}-${gender === "f" ? "female" : "male"}`,
    lang,
    fallbackVoice: true,
    service,
    voiceName: toolVoice(lang, file, { service, gender, variant }),
    gender,
  }));

const toolVoice = (
  lang: string,
  file: string,
  { service, gender, variant }: Omit<Place, "place">,
): string => {
  const flite = fliteVoices[lang]?.[gender];
  if (flite && service === "g1") return `flite:${flite}`;
  const best = places.find((place) => place.service === "g1" && place.gender === gender);
  return `espeak:${file}${flite && service === "g2" ? best?.variant : variant}`;
};

const nativeSystemVoice = ({ id, name, lang, gender }: SeededNativeVoice): SystemVoice => ({
  id,
  name,
  lang,
  gender,
});

const genders = { f: "Female", m: "Male" } as const satisfies Record<ShortGender, string>;

/** Native voices come first, because clients use the first voice that the browser has. */
const friendlyVoices = ([number, lang, , name, flag]: Line): Voice[] =>
  (["f", "m"] as const).map((gender) => ({
    name: `${name} ${genders[gender]}`,
    flag,
    gender,
    lang,
    voiceIDs: [
      ...nativeIds(lang, gender),
      ...placesOf(lang)
        .filter((place) => place.gender === gender)
        .map(({ place }) => idOf(number, place)),
    ],
  }));

const accentedVoices = (spoken: readonly Voice[]): Voice[] =>
  accents.flatMap(([, lang, spokenAs, name, flag]) =>
    spoken
      .filter((voice) => voice.lang === spokenAs)
      .map(({ gender, voiceIDs }) => ({
        name: `${name} ${genders[gender]}`,
        flag,
        gender,
        lang,
        voiceIDs: [...nativeIds(lang, gender), ...voiceIDs],
      })),
  );

const renamedVoices = (voices: readonly Voice[]): Voice[] =>
  otherNames.flatMap(([name, of]) =>
    voices.filter((voice) => voice.name === of).map((voice) => ({ ...voice, name })),
  );

const nativeVoicesBySpeaker = Map.groupBy(nativeVoices, ({ speaks, gender }) => `${speaks} ${gender}`);

const nativeIds = (lang: string, gender: ShortGender): number[] =>
  nativeVoicesBySpeaker.get(`${lang} ${gender}`)?.map(({ id }) => id) ?? [];
