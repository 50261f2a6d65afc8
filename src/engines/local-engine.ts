import { EngineFailed, Interrupted } from "../domain/errors.ts";
import type { EngineCode } from "../domain/speech.ts";
import type { SubprocessHost } from "../subprocess/subprocess-host.ts";
import { ToolFailed } from "../subprocess/tools.ts";
import type { Engine, SpeechRequest } from "./engine.ts";
import { espeak } from "./espeak.ts";
import { flite } from "./flite.ts";
import type { LocalTool } from "./local-tool.ts";

export interface LocalEngineOptions {
  readonly host: SubprocessHost;
  /** Told once for each tool that is missing, in a sentence. */
  readonly warn?: (sentence: string) => void;
}

/** The engines without credentials; their voices say which tool speaks. None when this machine has no tool at all. */
export const localEngines = async ({ host, warn }: LocalEngineOptions): Promise<Engine[]> => {
  const found = { "espeak-ng": await espeak(host), flite: flite(host) };
  for (const [name, tool] of Object.entries(found)) {
    if (!tool) warn?.(`${name} is not installed: voices that need it cannot be heard.`);
  }
  const tools = Object.values(found).filter((tool) => tool !== undefined);
  if (tools.length === 0) return [];
  return (["g1", "g2", "g3", "g5"] as const).map((code) => localEngine(code, tools));
};

const localEngine = (code: EngineCode, tools: readonly LocalTool[]): Engine => {
  const find = (voice: string): { tool: LocalTool; name: string } | undefined => {
    const [, prefix, name] = /^([a-z]+):(.+)$/s.exec(voice) ?? [];
    const tool = tools.find((one) => one.prefix === prefix);
    return tool && name !== undefined && tool.has(name) ? { tool, name } : undefined;
  };

  return {
    code,
    version: (voice) => find(voice)?.tool.version ?? "none",
    prosody: (voice) => {
      const found = find(voice);
      return found ? found.tool.knobs(found.name) : [];
    },
    takesSsml: (voice) => find(voice)?.tool.takesSsml ?? false,
    synthesize: async (request, signal) => {
      const found = find(request.voice);
      if (!found) throw new EngineFailed(`The engine ${code} does not have the voice that was asked for.`);
      if (request.ssml && !found.tool.takesSsml) throw new EngineFailed("This voice takes no SSML.");
      return speak(found.tool, { ...request, voice: found.name }, signal);
    },
  };
};

const speak = async (tool: LocalTool, request: SpeechRequest, signal: AbortSignal) => {
  const { sampleRate, pcm } = await tool.speak(request, signal).catch(refuse);
  const encoding = { kind: "pcm", sampleRate } as const;
  return { encoding, audio: told(pcm) };
};

async function* told(pcm: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  try {
    yield* pcm;
  } catch (error) {
    refuse(error);
  }
}

const refuse = (error: unknown): never => {
  if (!(error instanceof ToolFailed)) throw error;
  if (error.interrupted) throw new Interrupted({ cause: error });
  throw new EngineFailed(error.message, { cause: error });
};
