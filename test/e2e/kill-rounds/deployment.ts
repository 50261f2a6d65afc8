import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { composeAuditProof } from "../../../src/bootstrap/commands/audit-proof.ts";
import { registerAuditProofCommands } from "../../../src/cli/commands/audit-proof.ts";
import type { EventStore } from "../../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { prefixedEventStore } from "../../../src/eventstore/prefixed-event-store.ts";
import { openSqliteEventStore } from "../../../src/eventstore/sqlite/sqlite-event-store.ts";
import { validatedEventStore } from "../../../src/eventstore/validated-event-store.ts";
import { readSettings } from "../../../src/settings/read-settings.ts";
import { event } from "../../contracts/event-store/events.ts";
import { runCommand } from "../../support/command-line.ts";
import { startEventStoreDBProcess } from "../../support/eventstoredb-process.ts";
import { masterKey, type RunningService, startInstance } from "../../support/instance.ts";
import { scopedStore } from "../../support/scoped-store.ts";

export type StoreKind = "sqlite" | "eventstoredb";

/** The connection string of a real EventStoreDB server, which may be shared. */
export type ServerUrl = `esdb${string}`;

export const isServerUrl = (text: string): text is ServerUrl => /^esdb(\+discover)?:\/\//.test(text);

/** Instances of the service over one log. */
export interface Deployment {
  readonly instances: number;
  /** A connection of the test's own. */
  readonly store: EventStore;
  /** `checkout`: the directory of another version of the service. */
  start(instance: number, checkout?: string): Promise<RunningService>;
  /** Seals the log with the command line of a version, as its running instances do every hour. */
  seal(checkout?: string): Promise<void>;
  /**
   * Seals the log, and verifies it with `voxledger audit verify`.
   * @throws if that finds a defect
   */
  verify(): Promise<void>;
  remove(): Promise<void>;
}

interface Place {
  readonly instances: number;
  readonly env: Record<string, string>;
  readonly store: EventStore;
  readonly end: () => Promise<void>;
}

/** Reads lag behind appends, as on a real server. */
const indexLagSeed = 7;

const places: Record<StoreKind, (folder: string) => Promise<Place>> = {
  sqlite: async (folder) => {
    const path = join(folder, "events.db");
    return {
      instances: 1,
      env: { EVENT_STORE: `sqlite:${path}` },
      store: await openSqliteEventStore({ path }),
      end: async () => {},
    };
  },
  eventstoredb: async (folder) => {
    const node = await startEventStoreDBProcess(join(folder, "eventstoredb"), 0, indexLagSeed);
    return {
      instances: 2,
      env: { EVENT_STORE: node.url },
      store: await openEventStoreDB({ url: node.url }),
      end: node.kill,
    };
  },
};

/** Two instances under a stream prefix of their own. The events stay on the server. */
const onServer = async (url: ServerUrl): Promise<Place> => {
  const prefix = `kills-${randomUUID().slice(0, 8)}`;
  const store = await openEventStoreDB({ url });
  // A filtered subscription must start at a matching event.
  const { position } = await prefixedEventStore(store, prefix).append("beginning", [event()], "none");
  return {
    instances: 2,
    env: { EVENT_STORE: url, STREAM_PREFIX: prefix },
    store: scopedStore(store, prefix, position),
    end: async () => {},
  };
};

/** `workers`: of each instance. Several are one instance, on any store. */
export const openDeployment = async (kind: StoreKind | ServerUrl, workers = 1): Promise<Deployment> => {
  const folder = await mkdtemp(join(tmpdir(), "voxledger-kills-"));
  const { instances, env, store, end } = await (isServerUrl(kind) ? onServer(kind) : places[kind](folder));
  const dataDir = (instance: number): string => join(folder, `instance-${instance}`);
  const common = { MASTER_KEY: masterKey, BURST_LIMIT: "1000000", WORKERS: String(workers) };
  const settings = { ...env, ...common };
  const own = { ...settings, DATA_DIR: dataDir(0) };
  return {
    instances: workers > 1 ? 1 : instances,
    store: validatedEventStore(store),
    start: (instance, checkout) => startInstance(dataDir(instance), settings, checkout),
    seal: async (checkout) => {
      const program = ["src/cli.ts", "audit", "export", join(folder, randomUUID())];
      const { PATH } = process.env;
      await promisify(execFile)("scripts/node", program, { cwd: checkout, env: { PATH, ...own } });
    },
    verify: async () => {
      const exported = join(folder, "export");
      for (const args of [["export", exported], ["verify", exported], ["verify"]]) {
        const { exitCode, stderr } = await runCommand(own, ["audit", ...args], (program) =>
          registerAuditProofCommands(
            program,
            composeAuditProof(() => readSettings(own)),
          ),
        );
        if (exitCode !== 0) throw new Error(`audit ${args[0]} exited with ${exitCode}: ${stderr}`);
      }
    },
    remove: async () => {
      await store.close();
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
