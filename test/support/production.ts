import { hash, randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { EventStore } from "../../src/eventstore/event-store.ts";
import { openEventStoreDB } from "../../src/eventstore/eventstoredb/eventstoredb-event-store.ts";
import { openBalancer } from "./balancer.ts";
import { type EventStoreDBProcess, startEventStoreDBProcess } from "./eventstoredb-process.ts";
import { adminToken, masterKey, type RunningService, startInstance } from "./instance.ts";
import { startMinio } from "./minio.ts";
import { addressOf, type S3Server } from "./s3-server.ts";

/** A production deployment: several instances with their own stores, behind a load balancer. */
export interface Production {
  /**
   * Two instances, each with its own data directory; services of the same directory share its
   * stores.
   */
  start(folder: string, env: Record<string, string>): Promise<RunningService>;
  /** One of the instances alone. */
  startOne(folder: string, env: Record<string, string>): Promise<RunningService>;
  /** Stops the directory's event store. */
  release(folder: string): Promise<void>;
}

/** Reads lag behind appends, as on a real server. */
const indexLagSeed = 7;

export const openProduction = (): Production => {
  const nodes = new Map<string, Promise<EventStoreDBProcess>>();
  /** MinIO ends with this process, which runs several files. */
  let minio: Promise<S3Server> | undefined;

  const storesOf = async (folder: string): Promise<Record<string, string>> => {
    const node = nodes.get(folder) ?? startEventStoreDBProcess(join(folder, "eventstoredb"), 0, indexLagSeed);
    nodes.set(folder, node);
    minio ??= startMinio();
    const bucket = `b-${hash("sha256", folder).slice(0, 32)}`;
    return {
      EVENT_STORE: (await node).url,
      AUDIO_STORE: addressOf((await minio).location(bucket)),
      MASTER_KEY: masterKey,
      METRICS_PORT: "0",
    };
  };

  const startOne: Production["startOne"] = async (folder, env) =>
    startInstance(await mkdtemp(join(folder, "instance-")), { ...(await storesOf(folder)), ...env });

  return {
    start: async (folder, env) => {
      const instances = await Promise.all([startOne(folder, env), startOne(folder, env)]);
      const { EVENT_STORE: url = "" } = await storesOf(folder);
      return await balanced(instances, await openEventStoreDB({ url }));
    },
    startOne,
    release: async (folder) => {
      const node = nodes.get(folder);
      nodes.delete(folder);
      await (await node)?.kill();
    },
  };
};

/**
 * The instances as one service. They learn of each other's events after some milliseconds, but the
 * suites expect read-your-writes. So responses to commands are delayed until the views of all
 * instances include the commands' events. Refusals that may have suspended a key are delayed in the
 * same way.
 */
const balanced = async (instances: readonly RunningService[], store: EventStore): Promise<RunningService> => {
  const balancer = await openBalancer(
    instances.map(({ url }) => url),
    {
      onResponse: async ({ method, path }, status) => {
        if (status === 403 || (status < 300 && isCommand(method, path)))
          await level(instances, await appendMarker(store));
      },
    },
  );
  const end = async <T>(how: (instance: RunningService) => Promise<T>): Promise<T[]> => {
    const ended = await Promise.all(instances.map(how));
    await balancer.close();
    await store.close();
    return ended;
  };
  return {
    url: balancer.url,
    pid: instances[0]?.pid ?? 0,
    pids: instances.flatMap(({ pids }) => pids),
    get log() {
      return instances.flatMap(({ log }) => log);
    },
    kept: async () => {
      for (const url of instances.map(metricsUrl)) {
        while ((await numberOf("voxledger_audio_store_pending_objects", url)) > 0) await delay(2);
      }
    },
    stop: async () => Math.max(...(await end((instance) => instance.stop())).map((code) => code ?? -1)),
    kill: async () => void (await end((instance) => instance.kill())),
  };
};

const isCommand = (method: string, path: string): boolean =>
  method !== "GET" && method !== "HEAD" && /^\/(admin\/|v2\/(auth\/verify-origin|voices\/report))/.test(path);

const metricsUrl = ({ log }: RunningService): string => {
  const line = log.find((one) => one.includes('"msg":"metrics"'));
  return JSON.parse(line ?? "{}").url;
};

/** Appends an event that every view passes, and that no fold knows. Resolves with its position. */
const appendMarker = async (store: EventStore): Promise<number> => {
  const marker = { id: randomUUID(), type: "Marker", data: {}, metadata: {} };
  return (await store.append("platform-marker", [marker], "any")).position;
};

/** Resolves when the views of all instances have passed the position. */
const level = async (instances: readonly RunningService[], passed: number): Promise<void> => {
  for (const instance of instances) while ((await positionOf(instance)) < passed) await delay(2);
};

/** Reads the status, not the metrics: those are a long text, and commands are frequent. */
const positionOf = async ({ url }: RunningService): Promise<number> => {
  const headers = { Authorization: `Bearer ${adminToken}` };
  const response = await fetch(`${url}/admin/status`, { headers });
  if (!response.ok) throw new Error(`the status is answered with ${response.status}`);
  const { position } = (await response.json()) as { position: number };
  return position;
};

const numberOf = async (name: string, metrics: string): Promise<number> => {
  const text = await (await fetch(metrics)).text();
  const [, value] = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text) ?? [];
  if (value === undefined) throw new Error(`there is no ${name} among the metrics`);
  return Number(value);
};
