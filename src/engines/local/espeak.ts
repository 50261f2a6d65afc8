import { text } from "node:stream/consumers";
import type { Prosody } from "../../domain/synthesis/speech.ts";
import { type MappedText, rewrite, unchanged } from "../../domain/text/mapped-text.ts";
import type { EspeakRequest, SpeechEvent } from "../../subprocess/espeak.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import { clauseCost, spelledSeconds } from "./espeak-cost.ts";
import { mnemonicsOf } from "./espeak-phonemes.ts";
import { dictionaryVersion } from "./japanese/japanese-readings.ts";
import type { Boundary, LocalTool, Pauses } from "./local-tool.ts";

/**
 * The version of the requests to the tool. Raise it when they change, or names would lead to old
 * audio. A test enforces it.
 */
const preparation = 1;

/**
 * Letters and digits that espeak-ng skips in all languages, from Latin Extended-D to Meetei Mayek.
 * It spells those of other rare scripts.
 */
const skipped = /[[\p{L}\p{N}]&&[\ua700-\uabff]]/gv;

/**
 * The name of a voice file, and of a variant. A voice that is named by its language does not always
 * apply its variant.
 */
const voicePattern = /^((?:[a-z]{2,4}\/)?[a-z]{2,4}(?:-[A-Za-z0-9]+)*)(?:\+([A-Za-z0-9_-]+))?$/;

/**
 * Replaces files that spell the words of their own language in espeak-ng 1.51 by files that read
 * them. Voices keep their names, which requests and catalogs contain.
 */
const readingFiles: Readonly<Record<string, string>> = {
  // This file turns Han characters into Pinyin, and reads that as English.
  "sit/cmn": "sit/cmn-Latn-pinyin",
  // This file says the names of vowel signs. Konkani is written as Marathi is.
  "inc/kok": "inc/mr",
};

/** The name of the voice in requests to espeak-ng. */
export const readingVoice = (voice: string): string =>
  voice.replace(/^[^+]+/, (file) => readingFiles[file] ?? file);

const isJapanese = (lang: string): boolean => /^ja\b/.test(lang);

/** espeak-ng; undefined if it is not installed. */
export const espeak = async (host: SubprocessHost): Promise<LocalTool | undefined> => {
  const version = host.versions["espeak-ng"];
  if (version === undefined) return undefined;
  const [files, variants] = await Promise.all([list(host, "--voices"), list(host, "--voices=variant")]);
  return {
    prefix: "espeak",
    version: (voice) =>
      [`espeak-ng ${version}; preparation ${preparation}`]
        .concat(/^jpx\/ja\b/.test(voice) ? dictionaryVersion : [])
        .join("; "),
    // espeak-ng silently ignores unknown variants.
    has: (voice) => {
      const [, file, variant] = voicePattern.exec(readingVoice(voice)) ?? [];
      return (
        file !== undefined && files.has(file) && (variant === undefined || variants.has(`!v/${variant}`))
      );
    },
    readsKana: isJapanese,
    prosodyParameters: () => ["pitch", "rate", "volume"],
    reportsEvents: host.espeak === "library",
    cost: clauseCost,
    // A Japanese text is never refused because of single characters.
    unreadable: (text, lang) => (isJapanese(lang) ? [] : (text.match(skipped) ?? [])),
    minSeconds: spelledSeconds,
    pauses: (boundary) => pauses[boundary],
    pieceFor: ({ text, ssml, voice, prosody }) => {
      const harmless = plain(text);
      const written = ssml ? withPhonemes(harmless, voice) : harmless;
      const hasPhonemes = written !== harmless;
      return {
        job: {
          ...{ type: "espeak", voice: readingVoice(voice), ssml, ...prosodyValues(prosody) },
          ...(hasPhonemes && { phonemes: true }),
          input: written.text,
        },
        placed: (events) => placedIn(written, events),
      };
    },
  };
};

/**
 * espeak-ng ends a text with the pause that it makes after the same punctuation within a text, at
 * every rate.
 */
const pauses: Readonly<Record<Boundary, Pauses>> = {
  sentence: {},
  clause: { before: 0.02 },
  word: { before: 0.01, after: 0.01 },
};

/**
 * The rate is in words per minute (at least 80), the pitch from 0 to 99 (50 is the voice's own),
 * and the volume in per cent (below 4 some voices cannot be heard).
 */
const prosodyValues = ({
  rate,
  pitch,
  volume,
}: Prosody): Pick<EspeakRequest, "rate" | "pitch" | "volume"> => ({
  rate: Math.max(80, Math.round(175 * rate)),
  pitch: Math.min(99, Math.round(50 * pitch)),
  volume: volume === 0 ? 0 : Math.max(4, Math.round(100 * volume)),
});

/**
 * Removes commands of espeak-ng: `[[…]]` encloses phonemes, U+0001 starts a change of voice or
 * rate, U+0000 ends the text. Between the brackets espeak-ng skips some invisible characters, and
 * U+0640 in some languages.
 */
const plain = (text: string): MappedText =>
  rewrite(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
    unchanged(text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, " ")),
    brackets,
    ([bracket]) => `${bracket} `,
  );

const brackets =
  /(?:\[|&#0*91;|&#[xX]0*5[bB];)(?=[\p{Default_Ignorable_Code_Point}\p{Cf}\p{M}\u0640]*(?:\[|&#|<phoneme))/gu;

/** Adds commands for the `<phoneme>` elements that the voice can pronounce. */
const withPhonemes = (document: MappedText, voice: string): MappedText =>
  rewrite(
    document,
    /<phoneme alphabet="ipa" ph="([^"<>[\]]*)">[^<>]*<\/phoneme>(?=(<)?)/gu,
    ([, ph = "", tag]) => {
      const mnemonics = mnemonicsOf(ph, voice);
      // Without the blank, espeak-ng would read a tag right after the brackets as text.
      return mnemonics && `[[${mnemonics}]]${tag ? " " : ""}`;
    },
  );

/** The events of a text, placed in its source. */
const placedIn = ({ text, from }: MappedText, events: readonly SpeechEvent[]): readonly SpeechEvent[] => {
  const places: number[] = [];
  let unit = 0;
  for (const character of text) {
    places.push(from[unit] ?? 0);
    unit += character.length;
  }
  return events.map((event) => ({ ...event, position: places[event.position] ?? event.position }));
};

/** Lists the files of the installed voices, which are in the fifth column of the output. */
const list = async (host: SubprocessHost, option: "--voices" | "--voices=variant"): Promise<Set<string>> => {
  const job = { tool: "espeak-ng", args: [option], output: "pipe", input: "" } as const;
  const table = await text(host.run(job, AbortSignal.timeout(60_000)));
  const rows = table.split("\n").slice(1);
  return new Set(rows.map((row) => row.trim().split(/\s+/)[4] ?? "").filter((file) => file !== ""));
};
