import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type EventStoreDBProcess, startEventStoreDBProcess } from "../../support/eventstoredb-process.ts";
import { masterKey } from "../../support/instance.ts";

/** An event store whose log is backed up, lost and restored. */
export interface DrillStore {
  /** The settings of instances and commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Backs up what `voxledger backup` leaves to the server's tools, after it. */
  backUpServer(): Promise<void>;
  /** Loses the log and all of DATA_DIR. No instance runs. */
  lose(): Promise<void>;
  /** Brings back what the server's tools have backed up. */
  restoreServer(): Promise<void>;
  /** The options of `voxledger restore`. */
  readonly restoreOptions: readonly string[];
  close(): Promise<void>;
}

export const openSqliteDrill = async (folder: string): Promise<DrillStore> => {
  const dataDir = join(folder, "data");
  return {
    env: { DATA_DIR: dataDir },
    backUpServer: async () => {},
    lose: () => rm(dataDir, { recursive: true }),
    restoreServer: async () => {},
    restoreOptions: [],
    close: async () => {},
  };
};

/**
 * A test node of EventStoreDB. Its own tool is a copy of its file, which may be taken while it
 * runs, and is put back while it does not.
 */
export const openEventStoreDBDrill = async (folder: string): Promise<DrillStore> => {
  const dataDir = join(folder, "data");
  const [live, copy] = [join(folder, "node.log"), join(folder, "node-backup.log")];
  let node: EventStoreDBProcess = await startEventStoreDBProcess(live);
  return {
    env: { DATA_DIR: dataDir, EVENT_STORE: node.url, MASTER_KEY: masterKey },
    backUpServer: () => copyFile(live, copy),
    lose: async () => {
      await node.kill();
      for (const path of [live, dataDir]) await rm(path, { recursive: true });
    },
    restoreServer: async () => {
      await mkdir(dataDir);
      await copyFile(copy, live);
      node = await startEventStoreDBProcess(live, node.port);
    },
    restoreOptions: ["--log-restored"],
    close: () => node.kill(),
  };
};
