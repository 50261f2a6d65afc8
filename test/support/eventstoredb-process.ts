import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";

/** A test node of EventStoreDB in a child process. */
export interface EventStoreDBProcess {
  readonly url: string;
  readonly port: number;
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>;
}

const main = fileURLToPath(new URL("./eventstoredb-node/main.ts", import.meta.url));

/**
 * Starts a node that keeps its log in the file, which may have one already, or in memory. Port 0:
 * any free port. With a seed, its index lags.
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

/** Tests of what is read must not fail because the machine is busy. */
const longTimeouts = { appendTimeoutMs: 60_000, readTimeoutMs: 60_000, connectTimeoutMs: 60_000 };

/** The store of a test node of its own, whose index lags behind its log. */
export const openLaggingStore = async (): Promise<{
  readonly store: EventStore;
  remove(): Promise<void>;
}> => {
  const node = await startEventStoreDBProcess(undefined, 0, 7);
  const store = await openEventStoreDB({ url: node.url, ...longTimeouts });
  return {
    store,
    remove: async () => {
      await store.close();
      await node.kill();
    },
  };
};
