import type { Prosody } from "../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../src/engines/engine.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { type NaturalSpeech, openNaturalEngine, sayNaturally } from "./natural-engine.ts";

export const picoVoices = ["en-GB", "de-DE", "fr-FR", "es-ES", "it-IT", "en-US"] as const;

/** The local engine; undefined if a voice of Pico is not installed. */
export const openPico = (host: SubprocessHost): Promise<Engine | undefined> =>
  openNaturalEngine(
    host,
    picoVoices.map((voice) => `pico:${voice}`),
  );

export const sayWithPico = (
  engine: Engine,
  lang: string,
  text: string,
  prosody: Partial<Prosody> = {},
): Promise<NaturalSpeech> => sayNaturally(engine, { voice: `pico:${lang}`, lang, text, ...prosody });
