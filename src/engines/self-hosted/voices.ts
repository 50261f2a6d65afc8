import { freeEngines } from "../../domain/synthesis/speech.ts";
import { firstVoiceIds } from "../../domain/synthesis/voice-ids.ts";
import type { ConfiguredVoice } from "../configured-voices.ts";
import type { SelfHostedServers } from "./server.ts";

const provider = "self-hosted";

const prefix = "openai:";

/** The server's name for the voice; undefined for other voices. */
export const remoteName = (voice: string): string | undefined =>
  voice.startsWith(prefix) ? voice.slice(prefix.length) : undefined;

/** More than an engine's list may be long. */
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
