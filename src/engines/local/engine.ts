import { naturalVoices } from "../../domain/catalog/natural-voices.ts";
import { type EngineCode, freeEngines } from "../../domain/synthesis/speech.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";
import type { Engine } from "../engine.ts";
import { espeak } from "./espeak.ts";
import { flite } from "./flite.ts";
import { type JapaneseReadings, japaneseReadings } from "./japanese/japanese-readings.ts";
import { localEngine } from "./local-engine.ts";
import type { LocalTool } from "./local-tool.ts";

interface LocalEngineOptions {
  readonly host: SubprocessHost;
  /** The tools that need no files of voices. Default: those that the helper process finds. */
  readonly classic?: ClassicTools;
  /** Models that operators placed on the machine, by engine. */
  readonly models?: ReadonlyMap<EngineCode, LocalTool> | undefined;
  /** The tools of natural voices. Default: none. */
  readonly natural?: readonly LocalTool[];
  /** Default: readings from a new worker thread, which ends with the process. */
  readonly japanese?: JapaneseReadings;
  /** Called once for each missing tool. */
  readonly warn?: (sentence: string) => void;
}

export type ClassicTools = Awaited<ReturnType<typeof findClassicTools>>;

/** Finds the tools that bring their voices, by their names. The first one lists its voices. */
export const findClassicTools = async (host: SubprocessHost) => ({
  "espeak-ng": await espeak(host),
  flite: flite(host),
});

/**
 * Creates the free engines; none if no tool is installed. The name of a voice contains its tool.
 */
export const localEngines = async ({
  host,
  classic,
  models,
  natural = [],
  warn,
  japanese = japaneseReadings({ warn }),
}: LocalEngineOptions): Promise<Engine[]> => {
  const found = classic ?? (await findClassicTools(host));
  for (const [name, tool] of Object.entries(found)) {
    if (!tool) warn?.(`${name} is not installed: its voices are unavailable.`);
  }
  if (host.espeak === "command") {
    warn?.(
      "The library of espeak-ng cannot be used: its command line speaks, slower and without word timings.",
    );
  }
  const usable = Object.values(found).filter((tool) => tool !== undefined);
  // The voices of natural tools may be installed later, beside those of other tools.
  const tools = usable.length > 0 || natural.some(hasVoices) ? [...usable, ...natural] : [];
  return freeEngines.flatMap((code) => {
    const model = models?.get(code);
    const all = model ? [...tools, model] : tools;
    return all.length === 0 ? [] : [localEngine(code, all, { host, japanese })];
  });
};

const hasVoices = ({ prefix, has }: LocalTool): boolean =>
  naturalVoices.some(({ voiceName }) => {
    const [ownPrefix, name = ""] = voiceName.split(":");
    return ownPrefix === prefix && has(name);
  });
