import { normalProsody } from "../../src/domain/synthesis/speech.ts";
import { hibari } from "../../src/engines/local/hibari.ts";
import { kokoro } from "../../src/engines/local/kokoro.ts";
import type { LocalTool } from "../../src/engines/local/local-tool.ts";
import { createModelStates } from "../../src/engines/local/model-states.ts";
import { pico } from "../../src/engines/local/pico.ts";
import { naturalVoicesFolder, openNaturalVoices } from "../../src/engines/natural-voices/natural-voices.ts";
import type { HibariRequest } from "../../src/subprocess/hibari.ts";
import type { ModelJob } from "../../src/subprocess/jobs.ts";
import type { KokoroRequest } from "../../src/subprocess/kokoro.ts";
import type { PicoRequest } from "../../src/subprocess/pico.ts";
import type { PieceJob } from "../../src/subprocess/speech/speech-job.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";

/** The natural voices that are installed by default, one of each tool. */
export const naturalVoiceNames = ["hibari:heart", "pico:en-GB"] as const;
export const kokoroVoiceName = "kokoro:bf_emma";
export type NaturalVoiceName = (typeof naturalVoiceNames)[number] | typeof kokoroVoiceName;

export interface NaturalJob extends ModelJob {
  readonly request: { readonly speed: number; readonly pitch: number };
  /** The version of the voice. */
  readonly version: string;
}

/** The job with which the voice's tool speaks a text; undefined if the voice is not installed. */
export const naturalJob = async (voiceName: NaturalVoiceName): Promise<NaturalJob | undefined> => {
  const { installed } = await openNaturalVoices(naturalVoicesFolder(undefined));
  if (!installed.has(voiceName)) return undefined;
  const host = {} as SubprocessHost; // it is not used
  const states = createModelStates({ warn: () => undefined });
  const tools: readonly (LocalTool | undefined)[] = [
    hibari({ host, installed, states, idleMs: 60_000 }),
    pico({ installed, states }),
    kokoro({ host, installed, states, idleMs: 60_000 }),
  ];
  const [prefix, voice = ""] = voiceName.split(":");
  const tool = tools.find((one) => one?.prefix === prefix);
  const request = {
    text: "a",
    ssml: false,
    voice,
    lang: "en",
    prosody: normalProsody,
    format: "wav",
  } as const;
  if (!tool) return undefined;
  const { type: _, ...job } = tool.pieceFor(request).job as PieceJob & { readonly type: "model" };
  const modelRequest = job.request as HibariRequest | KokoroRequest | PicoRequest;
  return { ...job, request: modelRequest, version: tool.version(voice) };
};
