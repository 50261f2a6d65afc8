import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningService, startInstance } from "./instance.ts";
import { openProduction } from "./production.ts";

export { adminToken, failToStart, type RunningService } from "./instance.ts";

/**
 * What a service is, for the suites of test/e2e: one instance over the embedded stores, or, with
 * `E2E_DEPLOYMENT=production`, two behind a balancer over an EventStoreDB node and MinIO.
 */
export const deployment = process.env.E2E_DEPLOYMENT === "production" ? "production" : "embedded";

/** How many instances one service is. What each counts or makes by itself may be so many times as much. */
export const instances = deployment === "production" ? 2 : 1;

const production = deployment === "production" ? openProduction() : undefined;

/** A folder for one service's data, or for several that share it. */
export const temporaryFolder = async (): Promise<{ path: string; remove(): Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), "voxledger-e2e-"));
  return {
    path,
    remove: async () => {
      await production?.release(path);
      await rm(path, { recursive: true, force: true });
    },
  };
};

/** One instance over the deployment's stores, for suites that are about several. */
export const startOne = (dataDir: string, env: Record<string, string> = {}): Promise<RunningService> =>
  (production?.startOne ?? startInstance)(dataDir, env);

/** Starts the service on a free port of the loopback and waits until it listens. Same folder, same stores. */
export const startService = (dataDir: string, env: Record<string, string> = {}): Promise<RunningService> =>
  production ? production.start(dataDir, env) : startInstance(dataDir, env);
