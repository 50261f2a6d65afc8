/**
 * Measures the loudness of each local voice of the catalog (EBU R128, ffmpeg's `ebur128`), and
 * writes the table of gains in src/engines/local/gains.ts to the standard output. Takes a few
 * minutes, and an hour with Kokoro; needs espeak-ng, flite, ffmpeg and natural voices. With an
 * argument, only voices whose names begin with it are measured.
 */
import { naturalVoices } from "../src/domain/catalog/natural-voices.ts";
import { releaseSeed } from "../src/domain/catalog/seed/seed.ts";
import { gainOf } from "../src/engines/local/gains.ts";
import { naturalSentences } from "../test/listen/natural-sentences.ts";
import { type Sound, sayLocally } from "../test/support/local-voice.ts";
import { measureLoudness } from "../test/support/loudness.ts";
import {
  joinedSpeech,
  openNaturalEngine,
  paragraphsOf,
  sayNaturally,
} from "../test/support/natural-engine.ts";
import { openToolHost } from "../test/support/tool-host.ts";

const [wanted = ""] = process.argv.slice(2);

/** EBU R128's own target level. */
const targetLufs = -23;
/** 1 dB below the limit of -1 dBTP: other texts have higher peaks than the measured one. */
const maxPeakDbtp = -2;

/** Six dates in words: every language has them. */
const textOf = (lang: string): string => {
  const format = new Intl.DateTimeFormat([lang, "en"], { dateStyle: "full", timeZone: "UTC" });
  const dates = Array.from({ length: 6 }, (_, at) =>
    format.format(new Date(Date.UTC(2026, at * 2, 3 + at * 4))),
  );
  return `${dates.join(". ")}.`;
};

const voices = new Map<string, string>(
  releaseSeed().systemVoices.flatMap(({ voiceName = "", lang = "en" }) =>
    /^(?:espeak|flite):/.test(voiceName) && voiceName.startsWith(wanted) ? [[voiceName, lang] as const] : [],
  ),
);
const rows = new Map<string, string[]>();
const addRow = (voice: string, { lufs, peak }: { lufs: number; peak: number }): void => {
  const gain = Math.min(targetLufs - lufs, maxPeakDbtp - peak).toFixed(1);
  const [file = "", variant = "plain"] = voice.split("+");
  rows.set(file, [...(rows.get(file) ?? []), `${variant}: ${Number(gain)}`]);
};
for (const [voice, lang] of voices)
  addRow(voice, await measureLoudness(await sayLocally(voice, textOf(lang))));

/** Natural voices speak the sentences of their language; the present gain is subtracted. */
const host = await openToolHost();
for (const { voiceName: voice, lang } of naturalVoices) {
  const engine = voice.startsWith(wanted) ? await openNaturalEngine(host, [voice]) : undefined;
  if (!engine) continue;
  const isKokoro = voice.startsWith("kokoro:");
  const paragraphs = paragraphsOf(naturalSentences[lang] ?? [textOf(lang)]);
  const spoken: Sound[] = [];
  for (const text of isKokoro ? paragraphs.slice(0, 2) : paragraphs)
    spoken.push(await sayNaturally(engine, { voice, lang, text }));
  const { lufs, peak } = await measureLoudness(joinedSpeech(spoken));
  const present = 20 * Math.log10(gainOf(voice));
  // Kokoro limits its peaks, whatever the gain is.
  addRow(voice, { lufs: lufs - present, peak: isKokoro ? -Infinity : peak - present });
}
await host.close();
for (const [file, gains] of [...rows].sort()) console.log(`  "${file}": { ${gains.sort().join(", ")} },`);
