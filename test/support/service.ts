import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningService, startInstance } from "./instance.ts";
import { openProduction } from "./production.ts";

export { adminToken, failToStart, type RunningService } from "./instance.ts";

/**
 * The deployment that the suites of test/e2e run against: one instance over the embedded stores,
 * or, with `E2E_DEPLOYMENT=production`, two behind a balancer over an EventStoreDB node and MinIO.
 */
export const deployment = process.env.E2E_DEPLOYMENT === "production" ? "production" : "embedded";

/** The number of instances per service. Limits and caches that are per instance multiply by it. */
export const instances = deployment === "production" ? 2 : 1;

const production = deployment === "production" ? openProduction() : undefined;

/** A data directory for one service, or for several that share it. */
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

/** One instance over the deployment's stores, for suites about several instances. */
export const startOne = (dataDir: string, env: Record<string, string> = {}): Promise<RunningService> =>
  (production?.startOne ?? startInstance)(dataDir, env);

/**
 * Starts the service on a free loopback port and waits until it listens. The same directory means
 * the same stores.
 */
export const startService = (dataDir: string, env: Record<string, string> = {}): Promise<RunningService> =>
  production ? production.start(dataDir, env) : startInstance(dataDir, env);
