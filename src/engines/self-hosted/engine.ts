import { EngineFailed } from "../../domain/errors.ts";
import { type FreeEngine, freeEngines } from "../../domain/synthesis/speech.ts";
import { firstVoiceIds } from "../../domain/synthesis/voice-ids.ts";
import type { ConfiguredVoice } from "../configured-voices.ts";
import type { Engine } from "../engine.ts";
import { createOpenAiEngine } from "../openai/engine.ts";
import type { Exchange } from "../provider-http/exchange.ts";
import type { SelfHostedServer, SelfHostedServers } from "./server.ts";

/**
 * An engine on the operator's own server; its voices have the names of the catalog
 * (`openai:af_bella`).
 */
export const selfHostedEngine = (code: FreeEngine, server: SelfHostedServer, exchange: Exchange): Engine => {
  const { voices, ...asked } = server;
  const names = voices.map(({ name }) => name);
  // Other names are not voices of the server.
  const nameOf = (voice: string): string => remoteName(voice) ?? "";
  return createOpenAiEngine({ code, server: { ...asked, exchange }, voices: names, nameOf });
};

/**
 * Combines two engines: the server speaks its own voices, and the local engine, if there is one,
 * all others. `Required`: what an engine may leave out must be asked of the one that speaks.
 */
export const combineEngines = (server: Engine, local: Engine | undefined): Required<Engine> => {
  const speakerOf = (voice: string): Engine | undefined => (remoteName(voice) === undefined ? local : server);
  return {
    code: server.code,
    version: (voice) => speakerOf(voice)?.version(voice) ?? "none",
    prosody: (voice) => speakerOf(voice)?.prosody(voice) ?? [],
    takesSsml: (voice) => speakerOf(voice)?.takesSsml(voice) ?? false,
    otherVoices: (request) => speakerOf(request.voice)?.otherVoices?.(request) ?? [],
    isExact: (voice) => speakerOf(voice)?.isExact?.(voice) ?? true,
    isReproducible: (voice) => speakerOf(voice)?.isReproducible?.(voice) ?? false,
    takesMstts: (voice) => speakerOf(voice)?.takesMstts?.(voice) ?? false,
    takesInstructions: (voice) => speakerOf(voice)?.takesInstructions?.(voice) ?? false,
    takesPhonemes: (voice) => speakerOf(voice)?.takesPhonemes?.(voice) ?? false,
    reportsPhonemes: (voice) => speakerOf(voice)?.reportsPhonemes?.(voice) ?? false,
    marks: (voice) => speakerOf(voice)?.marks?.(voice) ?? false,
    synthesize: async (request, signal) => {
      const speaker = speakerOf(request.voice);
      if (speaker) return speaker.synthesize(request, signal);
      throw new EngineFailed(`The engine ${server.code} does not have the voice that was asked for.`);
    },
  };
};

const provider = "self-hosted";

const prefix = "openai:";

/** The server's name for the voice; undefined for other voices. */
const remoteName = (voice: string): string | undefined =>
  voice.startsWith(prefix) ? voice.slice(prefix.length) : undefined;

/** No setting can name a longer list of voices. */
const idsOfEngine = 10_000;

/** The voices of the operator's servers. */
export const voicesOfServers = (servers: SelfHostedServers): ConfiguredVoice[] =>
  freeEngines.flatMap((engine) =>
    (servers[engine]?.voices ?? []).map((voice, index) => ({
      ...voice,
      engine,
      voiceName: `${prefix}${voice.name}`,
      provider,
      id: firstVoiceIds.selfHosted + freeEngines.indexOf(engine) * idsOfEngine + index,
    })),
  );
