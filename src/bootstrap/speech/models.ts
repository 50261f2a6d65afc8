import type { Logger } from "pino";
import type { Check } from "../../application/health/health.ts";
import type { EngineCode } from "../../domain/synthesis/speech.ts";
import type { LocalTool } from "../../engines/local/local-tool.ts";
import { createModelStates } from "../../engines/local/model-states.ts";
import { loadModel, type SherpaOptions, sherpa } from "../../engines/local/sherpa.ts";
import { libraryVersion, missingLibrary } from "../../engines/models/library.ts";
import { openPacks } from "../../engines/models/open-packs.ts";
import type { ModelPack } from "../../engines/models/pack.ts";
import { voicesOfPacks } from "../../engines/models/voices.ts";
import type { Settings } from "../../settings/read-settings.ts";
import type { SubprocessHost } from "../../subprocess/subprocess-host.ts";

/**
 * Opens the models that operators placed on this machine. The log and health name those that cannot
 * be used.
 */
export const composeModels = async (
  { modelPaths, models: { folder, preload, limits } }: Settings,
  host: SubprocessHost,
  log: Pick<Logger, "warn">,
  /** Returns the installed version. */
  findLibrary = libraryVersion,
) => {
  const warn = (message: string): void => log.warn(message);
  const { packs, failures } = await openPacks({ paths: modelPaths, folder });
  const states = createModelStates({ warn: (message, end) => log.warn(end, message) });
  const isConfigured = packs.size > 0 || failures.length > 0;
  const library = isConfigured ? findLibrary() : undefined;
  for (const { name, message } of failures) warn(`The model ${name} cannot be used: ${message}`);
  if (isConfigured && library === undefined) warn(missingLibrary);

  const tools = new Map<EngineCode, LocalTool>(
    [...packs].map(([code, list]) => [code, sherpa(list, { host, library, states, limits })]),
  );
  const probe = async (): Promise<void> => {
    const missing = library === undefined ? [missingLibrary] : [];
    const broken = failures.map(({ name, message }) => `${name}: ${message}`);
    const all = [...missing, ...broken, ...states.failures()];
    if (all.length > 0) throw new Error(all.join("; "));
  };
  if (preload && library !== undefined) void loadAll([...packs.values()].flat(), { host, states, limits });

  const checks: Check[] = isConfigured ? [{ name: "models", critical: false, probe }] : [];
  return { tools, voices: voicesOfPacks(packs), checks };
};

/** Loads the packs one after the other. Their states report failures. */
const loadAll = async (packs: readonly ModelPack[], options: LoadOptions): Promise<void> => {
  const named = new Map(packs.map((pack) => [pack.name, pack]));
  for (const pack of named.values()) await load(pack, options).catch(() => undefined);
};

type LoadOptions = Pick<SherpaOptions, "host" | "states" | "limits">;

/** @throws {EngineFailed} after repeated failures */
const load = async (pack: ModelPack, { host, states, limits }: LoadOptions): Promise<void> => {
  const call = states.start(pack.name);
  try {
    await loadModel(pack, { host, limits });
    call.succeeded();
  } catch (error) {
    call.failed(error);
  }
};
