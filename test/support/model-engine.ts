import { createScheduler, type Scheduler } from "../../src/async/scheduler/scheduler.ts";
import type { EngineCode } from "../../src/domain/synthesis/speech.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { localEngines } from "../../src/engines/local/engine.ts";
import type { LocalTool } from "../../src/engines/local/local-tool.ts";
import { createModelStates, type ModelStates } from "../../src/engines/local/model-states.ts";
import { sherpa } from "../../src/engines/local/sherpa.ts";
import { libraryVersion } from "../../src/engines/models/library.ts";
import { openPacks } from "../../src/engines/models/open-packs.ts";
import type { SubprocessHost } from "../../src/subprocess/subprocess-host.ts";
import { openToolHost } from "./tool-host.ts";

export interface ModelEngine {
  readonly engine: Engine;
  readonly host: SubprocessHost;
  readonly scheduler: Scheduler;
  readonly states: ModelStates;
  close(): Promise<void>;
}

export const modelLimits = { threads: 1, memoryBytes: 1024 ** 3, idleMs: 600_000 };

/** The models of a folder, as tools of g1. */
export const openModels = async (
  host: SubprocessHost,
  folder: string,
  { states = createModelStates({ warn: () => {} }), limits = modelLimits } = {},
): Promise<ReadonlyMap<EngineCode, LocalTool>> => {
  const { packs } = await openPacks({ paths: {}, folder });
  return new Map([
    ["g1", sherpa(packs.get("g1") ?? [], { host, library: libraryVersion(), states, limits })],
  ]);
};

/** The engine g1 with the models of a folder, in a helper process of its own. */
export const openModelEngine = async (
  folder: string,
  changes: Partial<typeof modelLimits> = {},
): Promise<ModelEngine> => {
  const scheduler = createScheduler();
  const host = await openToolHost({ scheduler });
  const states = createModelStates({ warn: () => {} });
  const models = await openModels(host, folder, { states, limits: { ...modelLimits, ...changes } });
  const [engine] = await localEngines({ host, models });
  if (!engine) throw new Error("there is no engine");
  return { engine, host, scheduler, states, close: host.close };
};
