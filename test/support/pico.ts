import type { Mark } from "../../src/domain/synthesis/marks.ts";
import { normalProsody, type Prosody } from "../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import { createModelStates } from "../../src/engines/local/model-states.ts";
import { pico } from "../../src/engines/local/pico.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../../src/engines/natural-voices/natural-voices.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { collect } from "./collect.ts";
import type { Sound } from "./local-voice.ts";

export const picoVoices = ["en-GB", "de-DE", "fr-FR", "es-ES", "it-IT", "en-US"] as const;

/** The local engine with Pico's installed voices; undefined if they are not installed. */
export const openPico = async (host: SubprocessHost): Promise<Engine | undefined> => {
  const { installed } = await openNaturalVoices(naturalVoicesFolder(undefined));
  const isInstalled = picoVoices.every((voice) => installed.has(`pico:${voice}`));
  const tool = isInstalled && pico({ host, installed, states: createModelStates({ warn: () => undefined }) });
  return tool ? (await localEngines({ host, natural: [tool] }))[0] : undefined;
};

export interface PicoSpeech extends Sound {
  readonly marks: readonly Mark[] | undefined;
}

export const sayWithPico = async (
  engine: Engine,
  lang: string,
  text: string,
  prosody: Partial<Prosody> = {},
): Promise<PicoSpeech> => {
  const request = { text, ssml: false, voice: `pico:${lang}`, lang, format: "wav" } as const;
  const { encoding, audio, marks } = await engine.synthesize(
    { ...request, prosody: { ...normalProsody, ...prosody } },
    new AbortController().signal,
  );
  if (encoding.kind !== "pcm") throw new Error("local voices return samples");
  const pcm = Buffer.concat(await collect(audio));
  const samples = Int16Array.from({ length: pcm.length / 2 }, (_, at) => pcm.readInt16LE(2 * at));
  return { samples, sampleRate: encoding.sampleRate, marks: marks?.() };
};
