import type { Mark } from "../../src/domain/synthesis/marks.ts";
import { normalProsody, type Prosody } from "../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { hibari } from "../../src/engines/local/hibari.ts";
import { kokoro } from "../../src/engines/local/kokoro.ts";
import { createModelStates } from "../../src/engines/local/model-states.ts";
import { pico } from "../../src/engines/local/pico.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../../src/engines/natural-voices/natural-voices.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { collect } from "./collect.ts";
import type { Sound } from "./local-voice.ts";
import { pollTimeoutMs } from "./processes.ts";

/**
 * The local engine with the voices that `scripts/natural-voices` installs; undefined if one of
 * `voices` is not installed.
 */
export const openNaturalEngine = async (
  host: SubprocessHost,
  voices: readonly string[],
): Promise<Engine | undefined> => {
  const { installed } = await openNaturalVoices(naturalVoicesFolder(undefined));
  if (!voices.every((voice) => installed.has(voice))) return undefined;
  const states = createModelStates({ warn: () => {} });
  const options = { host, installed, states, idleMs: 60_000 };
  const natural = [hibari({ ...options, deadlineMs: pollTimeoutMs }), pico(options), kokoro(options)].filter(
    (tool) => tool !== undefined,
  );
  const engines = await localEngines({ host, natural });
  return engines[0];
};

export interface NaturalSpeech extends Sound {
  readonly marks: readonly Mark[];
}

/** `voice`: a SystemVoice.voiceName. */
export const sayNaturally = async (
  engine: Engine,
  { voice, lang, text, ...prosody }: { voice: string; lang: string; text: string } & Partial<Prosody>,
): Promise<NaturalSpeech> => {
  const request = { text, ssml: false, voice, lang, format: "wav" } as const;
  const { encoding, audio, marks } = await engine.synthesize(
    { ...request, prosody: { ...normalProsody, ...prosody } },
    new AbortController().signal,
  );
  if (encoding.kind !== "pcm") throw new Error("local voices return samples");
  const pcm = Buffer.concat(await collect(audio));
  const samples = Int16Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(2 * at));
  return { samples, sampleRate: encoding.sampleRate, marks: marks?.() ?? [] };
};

/**
 * Joins the sentences of a language, five at a time: a longer text may exceed the time limit of a
 * text.
 */
export const paragraphsOf = (sentences: readonly string[]): string[] =>
  Array.from({ length: Math.ceil(sentences.length / 5) }, (_, at) =>
    sentences.slice(5 * at, 5 * at + 5).join(" "),
  );

export const joinedSpeech = (all: readonly Sound[]): Sound => ({
  sampleRate: all[0]?.sampleRate ?? 0,
  samples: Int16Array.from(all.flatMap(({ samples }) => [...samples])),
});
