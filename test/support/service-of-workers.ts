import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { authorize, type Credentials, registerWebsite } from "./client.ts";
import { type RunningService, startInstance } from "./instance.ts";
import { isRunning } from "./processes.ts";

export const query = { voice: "UK English Female", text: "One of us speaks." };

/** What the tests of a suite use of their service, which each of them starts. */
export interface ServiceOfWorkers {
  /** A temporary folder. The service's data is in its folder `data`. */
  folder: string;
  service: RunningService;
  key: Credentials;
  /** Starts it with two workers, and registers a website. */
  start(env?: Record<string, string>): Promise<void>;
  /** Sends one request on a connection of its own. */
  ask(): Promise<Response>;
  /** The number of lines of the log that include the message. */
  logged(message: string): number;
}

/** Gives each test of a suite a folder, and ends its service. */
export const serviceOfWorkers = (): ServiceOfWorkers => {
  const workers = {
    start: async (env = {}) => {
      workers.service = await startInstance(join(workers.folder, "data"), { WORKERS: "2", ...env });
      workers.key = await registerWebsite(workers.service.url);
    },
    ask: async () => {
      const url = `${workers.service.url}/v2/text/synthesize?${new URLSearchParams(query)}`;
      const asking = request(url, { headers: authorize(workers.key), agent: false }).end();
      const [response] = (await once(asking, "response")) as [IncomingMessage];
      return new Response(await buffer(response), { status: response.statusCode ?? 0 });
    },
    logged: (message) => workers.service.log.filter((line) => line.includes(message)).length,
  } as ServiceOfWorkers;
  beforeEach(async () => {
    workers.folder = await mkdtemp(join(tmpdir(), "voxledger-workers-"));
  });
  afterEach(async () => {
    if (workers.service !== undefined && isRunning(workers.service.pid)) await workers.service.kill();
    await rm(workers.folder, { recursive: true });
  });
  return workers;
};
