import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A test node of EventStoreDB in a child process. */
export interface EventStoreDBProcess {
  readonly url: string;
  readonly port: number;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

const main = fileURLToPath(new URL("./eventstoredb-node/main.ts", import.meta.url));

/** Stores its log in the file, which may have one already, or in memory. Port 0: any free port. With a seed, its index lags. */
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
