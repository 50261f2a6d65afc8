/**
 * Measures the milliseconds between the marks of words and their beginnings according to the
 * audio's energy, in 200 sentences of ten languages.
 */
import { localEngines } from "../../src/engines/local/engine.ts";
import { openSubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { medianOf, sentenceOf, wordsByVoice, wordTimingErrors } from "../../test/support/word-onsets.ts";

const sentencesPerVoice = 20;
const maxMedianMs = 30;

const host = await openSubprocessHost({ encodersAhead: {} });
try {
  const [engine] = await localEngines({ host });
  if (!engine) throw new Error("espeak-ng is not installed");
  const all: number[] = [];
  let unclear = 0;
  for (const [voice, words] of Object.entries(wordsByVoice)) {
    const errors: number[] = [];
    for (let index = 0; index < sentencesPerVoice; index++) {
      const timed = await wordTimingErrors(engine, voice, sentenceOf(words, index)).catch(() => undefined);
      if (timed) errors.push(...timed.map(Math.abs));
      else unclear++;
    }
    all.push(...errors);
    console.log(
      JSON.stringify({ voice, words: errors.length, medianMs: medianOf(errors), maxMs: Math.max(...errors) }),
    );
  }
  const median = medianOf(all);
  console.log(
    JSON.stringify({
      name: "word timings",
      words: all.length,
      unclear,
      medianMs: median,
      aim: `≤ ${maxMedianMs}`,
    }),
  );
  process.exitCode = median <= maxMedianMs ? 0 : 1;
} finally {
  await host.close();
}
