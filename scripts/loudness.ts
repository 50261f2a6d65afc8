/**
 * Measures the loudness of each local voice of the catalog (EBU R128, ffmpeg's `ebur128`), and writes the table of gains
 * in src/engines/local/gains.ts to the standard output. Takes a few minutes; needs espeak-ng, flite and ffmpeg.
 */
import { releaseSeed } from "../src/domain/catalog/seed/seed.ts";
import { sayLocally } from "../test/support/local-voice.ts";
import { measureLoudness } from "../test/support/loudness.ts";

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
    /^(?:espeak|flite):/.test(voiceName) ? [[voiceName, lang] as const] : [],
  ),
);
const rows = new Map<string, string[]>();
for (const [voice, lang] of voices) {
  const { lufs, peak } = await measureLoudness(await sayLocally(voice, textOf(lang)));
  const gain = Math.min(targetLufs - lufs, maxPeakDbtp - peak).toFixed(1);
  const [file = "", variant = "plain"] = voice.split("+");
  rows.set(file, [...(rows.get(file) ?? []), `${variant}: ${Number(gain)}`]);
}
for (const [file, gains] of [...rows].sort()) console.log(`  "${file}": { ${gains.sort().join(", ")} },`);
