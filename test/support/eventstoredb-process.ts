import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A small EventStoreDB node as a process of its own. */
export interface EventStoreDBProcess {
  readonly url: string;
  readonly port: number;
  /** kill -9, and wait for its end. */
  kill(): Promise<void>;
}

const main = fileURLToPath(new URL("./eventstoredb-node/main.ts", import.meta.url));

/**
 * Continues the log that an earlier one left in the file; without one, in memory. Port 0: any that is free. With a seed its
 * index lags.
 */
export const startEventStoreDBProcess = async (
  dataFile?: string,
  port = 0,
  indexLagSeed?: number,
): Promise<EventStoreDBProcess> => {
  const place = dataFile === undefined ? [] : [dataFile];
  const child = spawn(process.execPath, [main, String(port), ...place], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, ...(indexLagSeed !== undefined && { INDEX_LAG_SEED: String(indexLagSeed) }) },
  });
  const ended = once(child, "close");
  const [url] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    url,
    port: Number(URL.parse(url)?.port),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};
