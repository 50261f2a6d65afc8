import type { ShortGender } from "../../synthesis/speech.ts";
import { firstVoiceIds } from "../../synthesis/voice-ids.ts";
import type { NativeVoice } from "../native-voice.ts";
import { accents } from "./further-voices.ts";
import { languages } from "./languages.ts";
import { apple } from "./native-apple.ts";
import { android, chrome, chromeNatural, chromeOs } from "./native-google.ts";
import { edge, windows } from "./native-microsoft.ts";

/*
 * Voices of browsers and operating systems, by the names that `speechSynthesis.getVoices()` returns
 * there. The list is limited to voices that have been in every release for years. Clients report
 * the others.
 *
 * Ids never change: an id is the platform's first id, plus 20 times the number of the language's
 * line (`languages`, `accents`), plus the index in the row. New voices are therefore appended to a
 * row, and none is removed.
 */

/**
 * `names`: each with its gender, in order of preference (`Anna f, Yannick m`). `label`: the suffix
 * that the platform adds.
 */
export type Row = readonly [lang: string, names: string, label?: string];

export interface SeededNativeVoice extends NativeVoice {
  readonly id: number;
  readonly gender: ShortGender;
  /** The language of the catalog's voices that refer to this voice. */
  readonly speaks: string;
}

interface Platform {
  readonly firstId: number;
  readonly on: NativeVoice["on"];
  readonly rows: readonly Row[];
  readonly nameOf: (name: string, label: string) => string;
}

const onDesktops = (browser: "chrome" | "edge"): NativeVoice["on"] =>
  (["windows", "macos", "linux"] as const).map((os) => ({ browser, os }));

/** Browsers that have voices of several platforms prefer the first ones. */
const platforms: readonly Platform[] = [
  {
    firstId: firstVoiceIds.native,
    on: onDesktops("edge"),
    rows: edge,
    nameOf: (name, label) => `Microsoft ${name} Online (Natural) - ${label}`,
  },
  {
    firstId: firstVoiceIds.native + 10_000,
    on: [{ os: "macos" }, { os: "ios" }],
    rows: apple,
    nameOf: (name) => name,
  },
  {
    firstId: firstVoiceIds.native + 20_000,
    on: [...onDesktops("chrome"), { os: "chromeos" }],
    rows: chromeNatural,
    nameOf: (name) => `Google ${name} (Natural)`,
  },
  {
    firstId: firstVoiceIds.native + 30_000,
    on: [{ os: "chromeos" }],
    rows: chromeOs,
    nameOf: (name) => `Chrome OS ${name}`,
  },
  {
    firstId: firstVoiceIds.native + 40_000,
    on: onDesktops("chrome"),
    rows: chrome,
    nameOf: (name) => `Google ${name}`,
  },
  {
    firstId: firstVoiceIds.native + 50_000,
    on: [{ os: "windows" }],
    rows: windows,
    nameOf: (name, label) => `Microsoft ${name} - ${label}`,
  },
  { firstId: firstVoiceIds.native + 60_000, on: [{ os: "android" }], rows: android, nameOf: (name) => name },
];

const idsOfLine = 20;

const lineNumbers = new Map([...languages, ...accents].map(([number, lang]) => [lang, number]));

/**
 * Languages for which platforms use another region than the catalog. A platform has at most one row
 * per line.
 */
const linesOfRegions: Readonly<Record<string, string>> = {
  "ar-001": "ar-SA",
  "es-MX": "es-419",
  "es-US": "es-419",
};

const voicesOf = ({ firstId, on, rows, nameOf }: Platform): SeededNativeVoice[] =>
  rows.flatMap(([lang, names, label = ""]) => {
    const speaks = linesOfRegions[lang] ?? lang;
    const line = lineNumbers.get(speaks) ?? Number.NaN;
    return names.split(", ").map((entry, place) => ({
      id: firstId + idsOfLine * line + place,
      name: nameOf(entry.slice(0, -2), label),
      lang,
      gender: entry.endsWith(" f") ? "f" : "m",
      speaks,
      on,
    }));
  });

export const nativeVoices: readonly SeededNativeVoice[] = platforms.flatMap(voicesOf);
